"""How the time of an update of the default preset grows with the size of what it is given."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.flops import STATES
from benchmarks.measure import Row, Settings
from benchmarks.speed import EPISODES, running, shortened
from sfm.config import Config, overridden
from sfm.presets import DEFAULT, preset

__all__ = ["exponent", "growth"]

CURVES: dict[str, tuple[int, ...]] = {
    "observation": (17, 24, 78, 172, 348),
    "features": (64, 128, 256, 512, 1024),
    "replay": (20_000, 200_000, 2_000_000, 10_000_000),  # transitions
    "demonstrations": (1, 10, 100, 1000),  # of 1,000 steps
}


def growth(settings: Settings) -> Iterator[Row]:
    """Microseconds of the processor that an update takes, and the exponent of size that fits so far."""
    config = shortened(preset(DEFAULT))
    for curve, sizes in CURVES.items():
        given = sizes[:2] if settings.quick else sizes
        chunks = processor_seconds([sized(config, curve, size) for size in given], settings.seconds)
        times = [1e6 * seconds / config.schedule.chunk for seconds in chunks]
        for i, (size, taken) in enumerate(zip(given, times, strict=True), start=1):
            fitted = exponent(given[:i], times[:i])
            yield f"{curve} {size:,}", {"microseconds_per_update": taken, "exponent": fitted}


def processor_seconds(runs: list[Callable[[], object]], seconds: float) -> list[float]:
    """Of a call of each, on all threads, at the best of several turns after a first one, which compiles.

    A processor that others use, too, makes that less wrong than time by the clock.
    """
    for run in runs:
        run()
    best, begin = [float("inf")] * len(runs), time.process_time()
    while time.process_time() - begin < seconds * len(runs):
        for i, run in enumerate(runs):
            before = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - before)
    return best


def sized(config: Config, curve: str, size: int) -> Callable[[], object]:
    """A chunk of updates where this is of that size."""
    given: dict[str, Any] = {
        "observation": {"obs_dim": size},
        "replay": {"repeats": size // (EPISODES * STATES)},
        "demonstrations": {"demonstrations": size},
    }
    if curve == "features":
        return running(overridden(config, {"objective.features.dim": size}))
    return running(config, **given[curve])


def exponent(sizes: Any, times: Any) -> float:
    """k of the time = c * size^k that is nearest, on logarithmic scales; 0 for a single size."""
    if len(sizes) < 2:
        return 0.0
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
