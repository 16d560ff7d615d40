"""What the benchmarks share: settings, time, memory, and the machine they ran on."""

import gc
import os
import platform
import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypeVar

__all__ = ["Row", "Settings", "entry", "grown", "machine", "timed"]

T = TypeVar("T")

Row = tuple[str, dict[str, float]]
"""What was measured, and its figures by name; a ratio has `_over_` in its name."""


class Settings(NamedTuple):
    """What every part of the suite is told."""

    presets: tuple[str, ...]
    seconds: float  # of calls of everything that is timed
    quick: bool


def timed(*runs: Callable[[], object], seconds: float, rounds: int = 3) -> list[float]:
    """Least seconds per call of each, from `seconds` of calls after a first one, which may compile.

    They take turns, so that what else the machine does meanwhile touches all of them alike.
    """
    for run in runs:
        run()
    turns = [[_mean_time(run, seconds / rounds) for run in runs] for _ in range(rounds)]
    return [min(times) for times in zip(*turns, strict=True)]


def _mean_time(run: Callable[[], object], seconds: float) -> float:
    count, begin = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - begin < seconds:
        run()
        count += 1
    return (time.perf_counter() - begin) / count


def grown(run: Callable[[], T]) -> tuple[T, int]:
    """What `run` returns, and the bytes by which this process grew at its peak meanwhile."""
    gc.collect()  # garbage that goes meanwhile would hide as much growth
    before, peak, done = _memory(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], _memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = run()
    finally:
        done.set()
        watcher.join()
    return result, max(peak[0], _memory()) - before


def _memory() -> int:
    """What this process holds, in bytes, without the pages of mapped files."""
    return 1024 * int(entry("/proc/self/status", "RssAnon").split()[0])


def entry(path: str, name: str) -> str:
    """The first value called `name` in a file of lines `name: value`; empty where there is none."""
    lines = Path(path).read_text().splitlines() if Path(path).exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def machine() -> dict:
    """What figures depend on; `load` is how many processes ran in the minute before."""
    return {
        "processor": entry("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": len(os.sched_getaffinity(0)),  # of JAX and of NumPy
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("jax", "numpy", "mujoco", "dm_control")},
    }
