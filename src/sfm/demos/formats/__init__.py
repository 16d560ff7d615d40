"""The table of formats: how each is recognised, read and written. A new one is a file and a row here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sfm.demos.formats import csv_files, imitation_files, lerobot_files, minari_files, npz_files, pickle_files
from sfm.demos.stack import Read
from sfm.demos.types import Demos

__all__ = ["FORMATS", "Format"]


class Format(NamedTuple):
    """A format: its reader, its writer, and by what it is known, the surest sign first."""

    read: Read
    save: Callable[[Any, Demos], None] | None = None
    marks: tuple[str | Path, ...] = ()  # a folder that holds one of these files is a dataset
    magic: tuple[bytes, ...] = ()  # how its files begin
    suffixes: tuple[str, ...] = ()


# In a folder of single files, the first suffix that occurs decides which are read.
FORMATS = {
    "npz": Format(npz_files.read, npz_files.save, magic=(b"PK", b"\x93NUMPY"), suffixes=(".npz", ".npy")),
    "pickle": Format(pickle_files.read, magic=(b"\x80",), suffixes=(".pkl", ".pickle")),
    "csv": Format(csv_files.read, csv_files.save, suffixes=(".csv", ".tsv", ".txt")),
    "lerobot": Format(
        lerobot_files.read, lerobot_files.save, (lerobot_files.INFO,), (b"PAR1",), (".parquet",)
    ),
    "lerobot-v2.1": Format(lerobot_files.read, lerobot_files.save_v2),
    "minari": Format(minari_files.read, minari_files.save, minari_files.MARKS, (b"\x89HDF",), (".hdf5",)),
    "imitation": Format(imitation_files.read, imitation_files.save, (imitation_files.STATE,)),
}
