"""Files from strangers, damaged or wrong, in every format: always one clear error."""

import pickle

import numpy as np
import pytest

from sfm.demos import load, save
from sfm.demos.formats import FORMATS
from sfm.demos.types import check
from sfm.errors import SfmError
from tests.demos.samples import demos, refused, write_lerobot

GIVEN = demos()


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[str, bytes]:
    """One good file of each format, by suffix."""
    path = tmp_path_factory.mktemp("good")
    save(path / "x.npz", GIVEN)
    save(path / "x.csv", GIVEN)
    obs, action = next(GIVEN.episodes())
    np.save(path / "x.npy", obs)
    files = {
        "npz": (path / "x.npz").read_bytes(),
        "npy": (path / "x.npy").read_bytes(),
        "csv": (path / "x.csv").read_bytes(),
        "pkl": pickle.dumps((obs, action), 4),
        "pickle": pickle.dumps((obs, action), 0),
    }
    for module, write, file in (
        ("minari", lambda: save(path / "m", GIVEN, "minari"), path / "m" / "data" / "main_data.hdf5"),
        ("pyarrow", lambda: write_lerobot(path / "l", GIVEN), path / "l/data/chunk-000/file-000.parquet"),
    ):
        try:
            __import__(module)
        except ImportError:
            continue
        write()
        files[file.suffix[1:]] = file.read_bytes()
    return files


def test_truncated_files_are_refused(tmp_path, good):
    count = 0
    for suffix, data in good.items():
        if suffix == "csv":  # a shorter table is a table
            continue
        for end in np.unique(np.linspace(0, len(data) - 1, 150).astype(int)):
            refused(tmp_path / f"x.{suffix}", data[:end])
            count += 1
    assert count > 500


def test_mutated_files_are_refused_or_still_demonstrations(tmp_path, good):
    """A changed digit is a number too; but nothing other than finite demonstrations ever comes back."""
    rng = np.random.default_rng(0)
    refusals = 0
    for suffix, data in good.items():
        path = tmp_path / f"x.{suffix}"
        for _ in range(200):
            changed = bytearray(data)
            start = rng.integers(len(data))
            match rng.integers(4):
                case 0:
                    changed[start] ^= 1 << rng.integers(8)
                case 1:
                    changed[start : start + 8] = rng.bytes(8)
                case 2:
                    del changed[start : start + int(rng.integers(1, 40))]
                case 3:
                    changed[start:start] = rng.bytes(int(rng.integers(1, 40)))
            path.write_bytes(changed)
            try:
                found = load(path)
            except SfmError:
                refusals += 1
            else:
                check(found, None)
    assert refusals > 400


def test_wrong_contents_for_every_suffix(tmp_path, good):
    junk = [b"", b"\0" * 100, b"PK\x03\x04" + b"\0" * 50, b"\x93NUMPY", b"\x89HDF\r\n\x1a\n", b"PAR1PAR1"]
    junk += [
        b"hello, world\n" * 5,
        b"\xff\xfe1,2\n",
        b"<html></html>",
        b"\x80\x04.",
        b"{}",
        b"version https://git-lfs",
    ]
    rng = np.random.default_rng(0)
    junk += [rng.bytes(int(size)) for size in rng.integers(1, 300, 20)]
    for suffix in (suffix for format in FORMATS.values() for suffix in format.suffixes):
        for data in junk:
            refused(tmp_path / f"x{suffix}", data)


def test_damaged_folders(tmp_path):
    pytest.importorskip("datasets")
    save(tmp_path / "i", GIVEN, "imitation")
    write_lerobot(tmp_path / "l", GIVEN)
    rng = np.random.default_rng(0)
    for folder in ("i", "l"):
        for file in sorted(path for path in (tmp_path / folder).rglob("*") if path.is_file()):
            if file.name == "dataset_info.json":  # not read
                continue
            data = file.read_bytes()
            for end in np.unique(np.linspace(0, len(data) - 1, 60).astype(int)):
                file.write_bytes(data[:end])
                with pytest.raises(SfmError):
                    load(tmp_path / folder)
            for _ in range(60):
                changed = bytearray(data)
                changed[rng.integers(len(data))] ^= 1 << rng.integers(8)
                file.write_bytes(changed)
                try:
                    check(load(tmp_path / folder), None)
                except SfmError:
                    continue
            file.write_bytes(data)
    (tmp_path / "i" / "state.json").write_text('{"_data_files": [{"filename": "../l/meta/info.json"}]}')
    with pytest.raises(SfmError, match="outside of the folder"):
        load(tmp_path / "i")
