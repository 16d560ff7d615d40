"""Time and memory of what runs."""

import time

import numpy as np

from benchmarks.measure import grown, timed


def test_time_of_runs_that_take_turns():
    calls = []
    slow, fast = timed(
        lambda: (calls.append("slow"), time.sleep(0.02)),
        lambda: (calls.append("fast"), time.sleep(0.001)),
        seconds=0.06,
    )
    assert fast >= 0.001
    assert slow >= 0.02
    assert calls[:3] == ["slow", "fast", "slow"]  # one call each before it counts


def test_growth_is_that_of_the_peak():
    def run() -> int:
        large = np.ones(8_000_000)  # more than malloc ever takes from what was freed
        time.sleep(0.3)  # so that it is seen
        return large.size

    size, grew = grown(run)
    assert grew > 7 * size
