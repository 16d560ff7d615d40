"""Every format comes back as it was, written by its own library where it has one."""

import itertools

import pytest
from hypothesis import given

from sfm.demos import load, save
from sfm.errors import SfmError
from tests.demos.samples import any_demos, assert_equal, demos, few, write_lerobot, write_pickles

WRITERS = {
    "npz": lambda path, d: save(path / "x.npz", d) or path / "x.npz",
    "csv": lambda path, d: save(path / "x.csv", d) or path / "x.csv",
    "minari": lambda path, d: save(path / "x-v0", d, "minari") or path / "x-v0",
    "imitation": lambda path, d: save(path / "x", d, "imitation") or path / "x",
    "lerobot": lambda path, d: save(path / "l3", d, "lerobot") or path / "l3",
    "lerobot-v2.1": lambda path, d: save(path / "l2", d, "lerobot-v2.1") or path / "l2",
    "lerobot2": lambda path, d: write_lerobot(path / "x2", d, "v2.1"),
    "lerobot3": lambda path, d: write_lerobot(path / "x3", d, "v3.0"),
    "pickle": lambda path, d: write_pickles(path / "xp", d),
}
NEEDS = {"minari": "minari", "imitation": "datasets"}
NEEDS |= {name: "pyarrow" for name in WRITERS if name.startswith("lerobot")}


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(WRITERS, 2)))
@given(original=any_demos())
@few
def test_from_each_format_to_each_other(tmp_path_factory, first, second, original):
    for name in (first, second):
        pytest.importorskip(NEEDS.get(name, "numpy"))
    path = tmp_path_factory.mktemp("formats")
    once = load(WRITERS[first](path, original))
    assert_equal(once, original)
    (path / "again").mkdir()
    assert_equal(load(WRITERS[second](path / "again", once)), original)


# The formats that are folders, and a function of the library that each needs
FOLDERS = {
    "minari": "minari.dataset._storages.hdf5_storage.HDF5Storage.update_episodes",
    "imitation": "datasets.Dataset.save_to_disk",
    "lerobot": "pyarrow.parquet.write_table",
    "lerobot-v2.1": "pyarrow.parquet.ParquetWriter.write_table",
}


@pytest.mark.parametrize("format", FOLDERS)
def test_nothing_is_left_behind_when_a_library_fails(tmp_path, monkeypatch, format):
    pytest.importorskip(NEEDS[format])
    monkeypatch.setattr(FOLDERS[format], _fail)
    with pytest.raises(SfmError, match="could not write"):
        save(tmp_path / "x", demos(), format)
    assert list(tmp_path.iterdir()) == []


def _fail(*args, **kwargs):
    raise OSError("the disk is gone")


@pytest.mark.parametrize("format", FOLDERS)
def test_what_exists_is_not_written_over(tmp_path, format):
    pytest.importorskip(NEEDS[format])
    (tmp_path / "x").mkdir()
    with pytest.raises(SfmError, match="it exists"):
        save(tmp_path / "x", demos(), format)
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]
    assert list((tmp_path / "x").iterdir()) == []
