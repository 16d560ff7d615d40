"""Aggregates over seeds and tasks; tests/data/rliable.json has what rliable 1.2.0 says of the same scores."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from sfm.evaluation import stats

TOLD = json.loads((Path(__file__).parent.parent / "data" / "rliable.json").read_text())
X, Y = (list(np.array(TOLD[name]).T) for name in "xy")
LEVELS = np.linspace(0, 1.2, 13)
NAMES = ("mean", "median", "iqm", "optimality_gap")


def ends(estimate) -> tuple:
    return estimate.value, estimate.low, estimate.high


@pytest.mark.parametrize(("name", "tasks"), [("x", X), ("y", Y)])
def test_aggregates_are_rliables(name, tasks):
    begin = time.process_time()
    mine = stats.aggregates(tasks)
    spent = time.process_time() - begin
    assert tuple(mine) == NAMES
    for figure, theirs in TOLD["aggregates"][name].items():
        assert mine[figure].value == pytest.approx(theirs["value"], abs=1e-6)
        assert ends(mine[figure]) == pytest.approx(tuple(theirs.values()), abs=1e-3)
    assert spent < 3  # one second on an idle core


def test_profiles_and_probabilities_of_improvement_are_rliables():
    for name, tasks in (("x", X), ("y", Y)):
        mine, theirs = stats.profile(tasks, LEVELS, 20_000), TOLD["profile"][name]
        np.testing.assert_allclose(mine.value, theirs["value"], atol=1e-9)
        np.testing.assert_allclose(mine.low, theirs["low"], atol=0.0101)  # they move in steps of 0.01
        np.testing.assert_allclose(mine.high, theirs["high"], atol=0.0101)
    assert ends(stats.improvement(X, Y)) == pytest.approx(tuple(TOLD["improvement"].values()), abs=2e-3)


def test_closed_forms_where_tasks_have_different_numbers_of_seeds():
    tasks = [np.array([0.0, 1.0]), np.array([0.5, 0.5, 2.0, 1.0]), np.array([0.0, 0.0])]
    assert stats.mean(tasks) == pytest.approx((0.5 + 1.0 + 0.0) / 3)
    assert stats.median(tasks) == 0.5
    assert stats.iqm(tasks) == pytest.approx((0.0 + 0.5 + 0.5 + 1.0) / 4)
    assert stats.optimality_gap(tasks) == pytest.approx(1 - (0 + 1 + 0.5 + 0.5 + 1 + 1) / 8)
    assert stats.improvement([tasks[0]], [np.array([0.5, 1.0])]).value == pytest.approx((0 + 0 + 1 + 0.5) / 4)


def test_one_seed_has_no_interval():
    one, two = [np.array([0.3])], [np.array([0.3, 0.4])]
    for tasks in (one, [*two, *one]):
        assert all(e.low is None and e.high is None for e in stats.aggregates(tasks).values())
        assert stats.profile(tasks, np.array([0.0])).low is None
        assert stats.improvement(tasks, tasks).low is None
    assert stats.interval(one[0]) == (0.3, None, None)
    assert stats.band(np.ones((1, 3))).low is None
    assert ends(stats.interval(two[0])) == pytest.approx((0.35, 0.3, 0.4))


def test_an_interval_covers_the_truth_as_often_as_it_says():
    """A percentile interval of 30 seeds is a little short of 95%."""
    rng = np.random.default_rng(0)
    found = [stats.interval(rng.normal(size=30), 500, seed=i) for i in range(200)]
    covered = np.mean([e.low <= 0 <= e.high for e in found])
    assert 0.89 < covered < 0.98


def test_a_band_is_the_interval_at_each_point():
    curves = np.random.default_rng(1).normal(size=(5, 3))
    line = stats.band(curves, 1000)
    for i in range(3):
        assert stats.interval(curves[:, i], 1000) == pytest.approx((line.value[i], line.low[i], line.high[i]))
