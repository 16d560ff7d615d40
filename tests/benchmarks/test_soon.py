from benchmarks.soon import Reached, reached, train


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


def test_a_run_is_ended_as_soon_as_it_has_so_much():
    """Whatever the first evaluation has is more than nothing."""
    found = train("cheetah_walk", 1, "", 0.0)
    assert found
    assert found.step <= 16_000
