"""Curves of seeds and their mean."""

import numpy as np
import pytest

from sfm.report.curves import Curve, Log, summary
from sfm.report.groups import samples
from sfm.report.records import read
from tests.report.conftest import rows_of


def test_curves_come_from_the_log_by_any_axis(copy):
    folder = copy("a")
    found, _ = samples([read(folder)])
    mine = [row for row in rows_of(folder) if row["seed"] == 1 and "eval/kept" in row]
    for axis, column in (("steps", "step"), ("updates", "updates"), ("seconds", "seconds")):
        curve = Log().curve(found[1], axis)
        assert curve.x.tolist() == [row[column] for row in mine]
        assert curve.y.tolist() == [row["eval/kept"] for row in mine]
    alike = Log().curve(found[1], "steps", "likeness")
    assert alike.y.tolist() == [row["likeness/kept"] for row in mine]
    assert len(Log().curve(found[1], "steps", "score").x) == 0  # a task without a scale


def test_the_mean_is_where_all_seeds_have_been():
    a, b = (
        Curve(np.array([0.0, 10, 20]), np.array([0.0, 10, 20])),
        Curve(np.array([5.0, 15]), np.array([1.0, 3])),
    )
    found = summary([a, b, Curve(np.array([]), np.array([]))])
    assert found is not None
    assert found.x.tolist() == [5, 10, 15]
    assert found.line.value.tolist() == pytest.approx([3, 6, 9])
    assert found.line.low is not None
    assert found.line.low.tolist() == pytest.approx([1, 2, 3])
    assert len(found.seeds) == 2
    assert summary([]) is None


def test_seeds_that_never_meet_have_no_mean():
    found = summary([Curve(np.array([0.0]), np.array([1.0])), Curve(np.array([5.0]), np.array([1.0]))])
    assert found is not None
    assert len(found.x) == 0


def test_many_points_become_few():
    x = np.arange(1000.0)
    found = summary([Curve(x, 2 * x)])
    assert found is not None
    assert len(found.x) == 60
    assert found.line.low is None
    np.testing.assert_allclose(found.line.value, 2 * found.x)
