"""How long `sfm train` takes to its first update."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row, Settings
from sfm.errors import SfmError
from sfm.training.logs import read_rows

__all__ = ["startup"]

TASK = "walker_walk"


def startup(settings: Settings) -> Iterator[Row]:
    """Seconds from the command to the first update, with an empty compilation cache and with a warm one."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        cold, *warm = (
            first_update(base / f"run{i}", base / "cache") for i in range(2 if settings.quick else 3)
        )
    yield (
        TASK,
        {"cold_seconds": cold, "warm_seconds": min(warm), "warm_over_cold": min(warm) / cold},
    )


def first_update(folder: Path, cache: Path) -> float:
    """Start the command, wait until the log has a row with a burst of updates."""
    command = [sys.executable, "-m", "sfm", "train", TASK, "--run", str(folder), "--no-video"]
    begin = time.perf_counter()
    child = subprocess.Popen(command, env={**os.environ, "SFM_CACHE": str(cache)}, stdout=subprocess.DEVNULL)
    try:
        while child.poll() is None:
            rows = read_rows(folder / "metrics.jsonl")
            bursts = [row["burst_seconds"] for row in rows if "burst_seconds" in row]
            if bursts:  # the row is written when its round is over, so this is a little more than the truth
                return time.perf_counter() - begin - bursts[0]
            time.sleep(0.01)
        raise SfmError(f"the run ended before its first update (exit status {child.returncode})")
    finally:
        child.kill()
        child.wait()
