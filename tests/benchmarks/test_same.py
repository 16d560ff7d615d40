"""What two recordings of runs differ in."""

import json

import numpy as np
import pytest

from benchmarks.same import RUNS, changes_of, differences, digest, main
from sfm import api
from sfm.presets import preset


@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_a_short_one_of_its_preset(name):
    config = api.overridden(preset(name), changes_of(name))
    assert config.schedule.steps < preset(name).schedule.steps
    assert config.learner.width == 16


def test_a_digest_is_of_numbers_shape_and_kind():
    numbers = np.arange(6, dtype=np.float32)
    others = [np.nextafter(numbers, 9), numbers.reshape(2, 3), numbers.view(np.int32)]
    assert digest(numbers) == digest(np.arange(12, dtype=np.float32)[:6].copy())
    assert len({digest(x) for x in (numbers, *others)}) == 4


def test_differences_are_told_apart():
    before = {"a": "1", "b": "2", "c": "3", "d": "4", "e": "4"}
    after = {"a": "1", "b": "0", "x": "3", "y": "5", "z": "4"}
    assert differences(before, after) == {
        "changed": ["b"],
        "gone": ["e"],  # one array does not stand for two
        "new": ["y"],
        "renamed": ["c -> x", "d -> z"],
    }


@pytest.mark.parametrize(
    ("after", "code"),
    [({"a": "1", "b": "2"}, 0), ({"a": "1", "c": "2"}, 0), ({"a": "1"}, 1), ({"a": "2", "b": "2"}, 1)],
)
def test_comparing_ends_with_an_error_where_more_than_a_name_differs(after, code, tmp_path, capsys):
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for path, digests in zip(paths, ({"a": "1", "b": "2"}, after), strict=True):
        path.write_text(json.dumps({"fast": digests}))
    assert main(["compare", *map(str, paths)]) == code
    assert "fast: " in capsys.readouterr().out
    assert main(["compare"]) == 2
