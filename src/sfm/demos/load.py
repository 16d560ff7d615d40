"""Demonstrations from whatever a path holds."""

import contextlib
import gzip
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sfm.demos import bundled
from sfm.demos.files import natural
from sfm.demos.formats import FORMATS, minari_files
from sfm.demos.limits import check_inflation
from sfm.demos.repair import NONE, Repair
from sfm.demos.stack import Read, Stack, gather
from sfm.demos.types import Demos
from sfm.errors import SfmError

_MAGIC = {magic: format.read for format in FORMATS.values() for magic in format.magic}
_SUFFIXES = {suffix: format.read for format in FORMATS.values() for suffix in format.suffixes}
_MARKS = {mark: format.read for format in FORMATS.values() for mark in format.marks}
_PACKED, _PACKED_MAGIC, _PIECE = ".gz", b"\x1f\x8b", 1 << 20


def load(path: str | Path, repair: Repair = NONE) -> Demos:
    """Reads demonstrations from a file, a folder, a Minari dataset's id or a bundled task's name.

    What a file contains decides how it is read; its suffix does only where the content leaves it open.
    Without actions in every demonstration there are none. `repair` changes them while they are read.
    """
    name, path = str(path), Path(path)
    if not name or not os.path.exists(path):  # unlike pathlib's, never fails
        path = minari_files.local(name.removeprefix("minari:"))
        if not minari_files.find(path):
            if found := bundled.file(name):
                return gather(name, [(found, _read)], repair)
            raise SfmError(
                f"demonstrations not found: {name[:200]!r} does not exist, and is neither a bundled task "
                f"nor a Minari dataset on this machine (minari download ID)"
            )
    return gather(name, _readers(path), repair)


def _readers(path: Path) -> list[tuple[Path, Read]]:
    if not path.is_dir():
        return [(path, _read)]
    try:
        for mark, read in _MARKS.items():
            if (path / mark).is_file():
                return [(path, read)]
        files = [file for file in sorted(path.iterdir(), key=natural) if file.is_file()]
    except OSError as error:
        raise SfmError(f"could not read {path}: {error.strerror or error}") from error
    found = {file: _suffix(file) for file in files if not file.name.startswith(".")}
    found = {file: suffix for file, suffix in found.items() if suffix in _SUFFIXES}
    if any(suffix != ".txt" for suffix in found.values()):  # beside others, a text tells about them
        found = {file: suffix for file, suffix in found.items() if suffix != ".txt"}
    if not found:
        raise SfmError(f"no demonstrations in {path}: there is no {', '.join(_SUFFIXES)} file and no dataset")
    if len({_SUFFIXES[suffix] for suffix in found.values()}) > 1:
        kinds = " and ".join(sorted(set(found.values())))
        raise SfmError(f"{path} holds {kinds} files: put those that you mean into a folder of their own")
    return [(file, _read) for file in found]


def _suffix(path: Path) -> str:
    """The last of a name that says how a file is read, in lower case."""
    name = path.name.lower().removesuffix(_PACKED)
    return Path(name).suffix


def _read(path: Path, stack: Stack) -> None:
    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(_PACKED_MAGIC):
        with _unpacked(path) as plain:
            try:
                return _read(plain, stack)
            except SfmError as error:
                raise SfmError(str(error).replace(str(plain), str(path))) from error
    by_suffix = _SUFFIXES.get(_suffix(path))
    read = next((read for magic, read in _MAGIC.items() if start.startswith(magic)), by_suffix)
    if read is None:
        raise SfmError(
            f"{path} is in no known format: NumPy, csv, pickled arrays, Minari, imitation or LeRobot; "
            f"a table of numbers needs the suffix .csv"
        )
    read(path, stack)


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """A gzipped file without its wrapping, as long as the block lasts."""
    stored, size = path.stat().st_size, 0
    with tempfile.TemporaryDirectory() as folder, gzip.open(path) as packed:
        plain = Path(folder) / path.name.removesuffix(_PACKED)
        with open(plain, "wb") as file:
            while piece := packed.read(_PIECE):
                if size == 0 and piece.startswith(_PACKED_MAGIC):
                    raise SfmError(f"{path} is packed twice")
                size += len(piece)
                check_inflation(str(path), size, stored)
                file.write(piece)
        yield plain
