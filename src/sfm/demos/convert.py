"""Demonstrations out to files, in the format that the name or the caller asks for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfm.demos import csv, imitation, lerobot, minari, npz
from sfm.demos.types import Demos, check
from sfm.errors import SfmError, unknown

__all__ = ["FORMATS", "save"]

FORMATS: dict[str, Callable[[Any, Demos], None]] = {
    "npz": npz.save,
    "csv": csv.save,
    "minari": minari.save,
    "imitation": imitation.save,
    "lerobot": lerobot.save,
    "lerobot-v2.1": lerobot.save_v2,
}


def save(path: str | Path, demos: Demos, format: str | None = None) -> None:
    """Writes demonstrations: one .npz or .csv file, or a new Minari, `imitation` or LeRobot folder.

    Without a format, the suffix decides; `minari:ID` writes among the Minari datasets of this machine.
    """
    if format is None:
        format = "minari" if str(path).startswith("minari:") else Path(path).suffix.removeprefix(".")
        if format not in FORMATS:
            raise SfmError(f"{path}: which format? Name one of {', '.join(FORMATS)}")
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    check(demos, None)
    FORMATS[format](path, demos)
