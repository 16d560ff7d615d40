import pytest

from benchmarks.soon import Reached, reached, train
from sfm.errors import SfmError


def test_the_first_evaluation_that_has_so_much_counts():
    rows = [
        {"step": 4, "seconds": 1.0},
        {"step": 4, "seconds": 1.0, "eval/kept": 70.0, "eval/current": 79.0},
        {"step": 8, "seconds": 2.5, "eval/kept": 80.0, "eval/current": 10.0},
        {"step": 12, "seconds": 4.0, "eval/kept": 99.0, "eval/current": 99.0},
    ]
    assert reached(rows, 80.0) == Reached(2.5, 8)
    assert reached(rows[:2], 80.0) is None
    assert reached(rows, 75.0) == Reached(1.0, 4)
    assert reached(rows, 0.0) == Reached(1.0, 4)
    assert reached(rows[:1], 0.0) is None
    assert reached([{"step": 4, "seconds": 1.0, "eval/kept": None, "eval/current": None}], 0.0) is None


def test_a_run_is_ended_at_its_first_evaluation_that_has_so_much():
    """Which is that of the first policy; the run would go on for minutes."""
    assert train("cheetah_walk", 1, "", 0.0) == Reached(0.0, 0)


def test_what_the_command_says_is_told(tmp_path):
    with pytest.raises(SfmError, match=r"none\.npz"):
        train("cheetah_walk", 1, str(tmp_path / "none.npz"), 0.0)
