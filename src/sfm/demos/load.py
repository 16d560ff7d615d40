"""Demonstrations from whatever a path holds."""

import os
from pathlib import Path

from sfm.demos import bundled
from sfm.demos.files import natural
from sfm.demos.formats import FORMATS, minari_files
from sfm.demos.stack import Read, Stack, gather
from sfm.demos.types import Demos
from sfm.errors import SfmError

_MAGIC = {magic: format.read for format in FORMATS.values() for magic in format.magic}
_SUFFIXES = {suffix: format.read for format in FORMATS.values() for suffix in format.suffixes}
_MARKS = {mark: format.read for format in FORMATS.values() for mark in format.marks}


def load(path: str | Path) -> Demos:
    """Reads demonstrations from a file, a folder, a Minari dataset's id or a bundled task's name.

    What a file contains decides how it is read; its suffix does only where the content leaves it open.
    Without actions in every demonstration there are none.
    """
    name, path = str(path), Path(path)
    if not name or not os.path.exists(path):  # unlike pathlib's, never fails
        path = minari_files.local(name.removeprefix("minari:"))
        if not minari_files.find(path):
            if found := bundled.bundled(name):
                return found
            raise SfmError(
                f"demonstrations not found: {name[:200]!r} does not exist, and is neither a bundled task "
                f"nor a Minari dataset on this machine (minari download ID)"
            )
    return gather(name, _readers(path))


def _readers(path: Path) -> list[tuple[Path, Read]]:
    if path.is_file():
        return [(path, _read)]
    for mark, read in _MARKS.items():
        if (path / mark).is_file():
            return [(path, read)]
    for suffix in _SUFFIXES:
        if files := sorted(path.glob(f"*{suffix}"), key=natural):
            return [(file, _read) for file in files]
    raise SfmError(f"no demonstrations in {path}: there is no {', '.join(_SUFFIXES)} file and no dataset")


def _read(path: Path, stack: Stack) -> None:
    with open(path, "rb") as file:
        start = file.read(8)
    by_suffix = _SUFFIXES.get(path.suffix.lower())
    read = next((read for magic, read in _MAGIC.items() if start.startswith(magic)), by_suffix)
    if read is None:
        raise SfmError(
            f"{path} is in no known format: NumPy, csv, pickled arrays, Minari, imitation or LeRobot; "
            f"a table of numbers needs the suffix .csv"
        )
    read(path, stack)
