"""Demonstrations out to files, in the format that the name or the caller asks for."""

from pathlib import Path
from typing import Any

from sfm import storage
from sfm.demos.formats import FORMATS, npz_files
from sfm.demos.types import Demos, check
from sfm.errors import SfmError, unknown

_WRITERS = {name: format.save for name, format in FORMATS.items() if format.save}


def format_of(path: str | Path, format: str | None = None) -> str:
    """The format in which a file of that name is written; an error before any work is done for it."""
    if format is not None and format not in _WRITERS:
        raise unknown("format", format, _WRITERS)
    if "\0" in str(path):
        raise SfmError(f"{str(path)!r} cannot be a file's name")
    suffix = Path(path).suffix.lower().removeprefix(".")
    single = [name for name in ("npz", "csv") if name == suffix]
    if format is None and str(path).startswith("minari:"):
        return "minari"
    if format is None and suffix not in _WRITERS:
        raise SfmError(f"{path}: which format? Name one of {', '.join(_WRITERS)}")
    if single and format not in (None, *single):
        raise SfmError(f"{path} would be written as {format}: choose a name without .{suffix}")
    return format or suffix


def save(
    path: str | Path, demos: Demos, format: str | None = None, provenance: dict[str, Any] | None = None
) -> None:
    """Writes demonstrations: one .npz or .csv file, or a new Minari, `imitation` or LeRobot folder.

    Without a format, the suffix decides; `minari:ID` writes among the Minari datasets of this machine.
    `provenance`, anything JSON, is kept by npz alone.
    """
    format = format_of(path, format)
    check(demos, None)
    if format == "npz" and provenance is not None:
        npz_files.save(path, demos, provenance=storage.to_json(provenance))
    else:
        _WRITERS[format](path, demos)
