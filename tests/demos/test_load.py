"""What a path holds is found out: by content, by suffix, by name."""

from pathlib import Path

import numpy as np
import pytest

from sfm.demos import Demos, load, save
from sfm.demos.formats import npz_files
from sfm.demos.types import check
from sfm.errors import SfmError
from tests.demos.samples import actions, assert_equal, demos, states

SHARED = Path(__file__).parents[3] / "shared" / "demos" / "walker_walk"


def test_content_decides_before_the_suffix(tmp_path):
    given = demos()
    save(tmp_path / "a.npz", given)
    (tmp_path / "a.npz").rename(tmp_path / "a.csv")
    assert_equal(load(tmp_path / "a.csv"), given)
    save(tmp_path / "b.csv", given)
    (tmp_path / "b.csv").rename(tmp_path / "b.unknown")
    with pytest.raises(SfmError, match="in no known format"):
        load(tmp_path / "b.unknown")
    with pytest.raises(SfmError, match="which format"):
        save(tmp_path / "c.xyz", given)
    with pytest.raises(SfmError, match="unknown format 'hdf'"):
        save(tmp_path / "c", given, "hdf")


def test_folder_is_read_in_natural_order(tmp_path):
    for i in (10, 9, 2, 1):
        np.savez(tmp_path / f"{i}.npz", obs=states(i, start=i), action=actions(i))
    np.savez(tmp_path / "last.npz", obs=states(3), action=actions(3))
    demos = load(tmp_path)
    assert demos.length.tolist() == [1, 2, 9, 10, 3]
    assert demos.action is not None
    np.savez(tmp_path / "z.npz", obs=states(3))
    assert load(tmp_path).action is None


def test_missing_paths(tmp_path):
    with pytest.raises(SfmError, match="does not exist"):
        load(tmp_path / "none.npz")
    with pytest.raises(SfmError, match=r"there is no \.npz, \.npy"):
        load(tmp_path)
    with pytest.raises(SfmError, match="'x' is neither"):
        npz_files.save(tmp_path / "a.npz", Demos.from_list([states(2)]), x={})
    assert list(tmp_path.iterdir()) == []


def test_paths_that_no_file_can_have():
    for name in ("", "a\0b", "x" * 5000, "../" * 50 + "none", "minari:", "minari:../x", "/proc/self/mem"):
        with pytest.raises(SfmError):
            load(name)


@pytest.mark.skipif(not SHARED.exists(), reason="the authors' demonstrations are not here")
def test_the_authors_demonstrations():
    demos = load(SHARED)
    check(demos, 24, str(SHARED))
    assert demos.obs.shape == (5, 1001, 24)
    assert demos.action is not None
    assert demos.action.shape == (5, 1000, 6)
    assert demos.length.tolist() == [1000] * 5
