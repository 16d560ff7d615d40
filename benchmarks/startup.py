"""Seconds from `sfm train` to the first update, with an empty compilation cache and a warm one."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def first_update(folder: Path, cache: Path, task: str, demos: str | None) -> float:
    """Start the command, wait until the log has a row with a burst."""
    command = [sys.executable, "-m", "sfm.cli", "train", task, "--run", str(folder), "--no-video"]
    command += ["--demos", demos] if demos else []
    begin = time.perf_counter()
    child = subprocess.Popen(command, env={**os.environ, "SFM_CACHE": str(cache)}, stdout=subprocess.DEVNULL)
    try:
        log = folder / "metrics.jsonl"
        while child.poll() is None:
            if log.exists() and '"burst_seconds"' in log.read_text():
                row = next(json.loads(r) for r in log.read_text().splitlines() if '"burst_seconds"' in r)
                # The row comes after a whole burst; its own time is subtracted by the burst's length.
                return time.perf_counter() - begin - row["burst_seconds"]
            time.sleep(0.01)
        raise SystemExit(f"the run ended before its first update (exit status {child.returncode})")
    finally:
        child.terminate()
        child.wait()


def main(task: str = "walker_walk", demos: str | None = None) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        cold = first_update(base / "cold", base / "cache", task, demos)
        warm = min(first_update(base / f"warm{i}", base / "cache", task, demos) for i in range(2))
    result = {"cold_seconds": round(cold, 2), "warm_seconds": round(warm, 2), "cores": os.cpu_count()}
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
