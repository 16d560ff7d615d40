"""Demonstrations out to files, in the format that the name or the caller asks for."""

from pathlib import Path

from sfm.demos.formats import FORMATS
from sfm.demos.types import Demos, check
from sfm.errors import SfmError, unknown

_WRITERS = {name: format.save for name, format in FORMATS.items() if format.save}


def save(path: str | Path, demos: Demos, format: str | None = None) -> None:
    """Writes demonstrations: one .npz or .csv file, or a new Minari, `imitation` or LeRobot folder.

    Without a format, the suffix decides; `minari:ID` writes among the Minari datasets of this machine.
    """
    if format is None:
        format = "minari" if str(path).startswith("minari:") else Path(path).suffix.removeprefix(".")
        if format not in _WRITERS:
            raise SfmError(f"{path}: which format? Name one of {', '.join(_WRITERS)}")
    if format not in _WRITERS:
        raise unknown("format", format, _WRITERS)
    check(demos, None)
    _WRITERS[format](path, demos)
