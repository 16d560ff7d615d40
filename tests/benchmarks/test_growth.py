"""What the curves are of, and the exponent that is fitted to them."""

import numpy as np
import pytest

from benchmarks import growth as module
from benchmarks.growth import CURVES, exponent, growth, processor_seconds, sized
from benchmarks.measure import Settings
from benchmarks.suite import ASKED, MODULES, Options
from sfm.config import overridden
from sfm.presets import preset

TINY = {"learner.width": 8, "objective.features.dim": 8, "schedule.batch": 8, "schedule.chunk": 2}


@pytest.mark.parametrize("k", [0.0, 0.5, 1.0])
def test_the_exponent_is_that_of_a_power(k):
    sizes = np.array([10.0, 100.0, 1000.0])
    assert exponent(sizes, 3 * sizes**k) == pytest.approx(k, abs=1e-9)
    assert exponent(sizes[:1], sizes[:1]) == 0


def test_every_curve_begins_with_what_is_small_and_ends_with_what_was_asked_for():
    ends = {curve: (sizes[0], sizes[-1]) for curve, sizes in CURVES.items()}
    assert ends == {
        "observation": (17, 348),
        "features": (64, 1024),
        "replay": (20_000, 10_000_000),
        "demonstrations": (1, 1000),
    }


def test_runs_of_each_size_are_made_and_timed(monkeypatch):
    given = []
    monkeypatch.setattr(module, "running", lambda config, **more: given.append((config, more)) or (lambda: 0))
    rows = list(growth(Settings((), 0.001, quick=True)))
    assert [name for name, _ in rows[-2:]] == ["demonstrations 1", "demonstrations 10"]
    assert [config.objective.features.dim for config, _ in given[2:4]] == [64, 128]
    assert [more for _, more in given[4:6]] == [{"repeats": 1}, {"repeats": 10}]


def test_a_small_one_runs():
    config = overridden(preset("general"), TINY)
    (seconds,) = processor_seconds([sized(config, "replay", 40_000)], 0.01)
    assert 0 < seconds < 60


def test_it_is_run_only_where_it_is_asked_for():
    assert set(MODULES) - set(Options().only) == set(ASKED) == {"growth"}
    assert Options().whole
