"""What `sfm runs` and `sfm report` cost where there are many runs: copies of a real one, altered.

    python -m benchmarks.evidence [--only runs report] [--count 1000]

One run of `walker_walk` is trained for a minute. Its copies have other tasks, settings, seeds and returns,
and a log as long as that of a whole run.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.measure import machine
from sfm import storage
from sfm.evaluation.scores import published
from sfm.training.logs import read_rows

Part = Literal["runs", "report"]
COUNTS: dict[Part, int] = {"runs": 1000, "report": 500}
TRAIN = "walker_walk --steps 5000 --schedule.random-steps 1000 --schedule.eval-every 1000"
TRAIN += " --schedule.updates-per-step 0.1 --learner.width 32 --schedule.envs 1"
GAMMAS = (0.99, 0.98, 0.97, 0.96, 0.95)
COPIED = ("config.json", "history.jsonl", "eval.json", "video.gif", "curve.png")
LONGER = 25  # times: as many rows as a run of 100,000 steps has


@dataclass(frozen=True)
class Options:
    """Which commands to time, on how many runs."""

    only: tuple[Part, ...] = ("runs", "report")
    count: int | None = None
    real: Path | None = None
    """A run to copy instead of training one."""
    json: Path = Path("runs/bench-evidence.json")


def trained(folder: Path) -> Path:
    sfm("train", *TRAIN.split(), "--run", folder)
    return folder


def copied(real: Path, folder: Path, count: int) -> None:
    """Seeds of some methods on the paper's tasks, with returns that differ."""
    config, rows = json.loads((real / "config.json").read_text()), read_rows(real / "metrics.jsonl")
    tasks, rng = list(published()["scale"]["returns"]), np.random.default_rng(0)
    steps = LONGER * config["schedule"]["steps"]
    for i in range(count):
        task, gamma, seed = tasks[i % 10], GAMMAS[i // 10 % 5], i // 50
        place = folder / f"{task}_{gamma}_seed{seed}"
        place.mkdir(parents=True)
        for name in COPIED:
            if (real / name).exists():
                shutil.copy(real / name, place)
        shutil.copytree(real / "policies", place / "policies")
        changed = config | {"task": task, "gamma": gamma, "seed": seed}
        changed["schedule"] = config["schedule"] | {"steps": steps}
        (place / "config.json").write_text(json.dumps(changed))
        end = rng.uniform(200, 900)
        with open(place / "metrics.jsonl", "w") as log:
            for k in range(LONGER):
                for row in rows:
                    later = row["step"] + k * config["schedule"]["steps"]
                    told = {n: end * later / steps + rng.normal(0, 20) for n in row if n.startswith("eval/")}
                    log.write(json.dumps(row | told | {"step": later, "seed": seed}) + "\n")


def sfm(*words: object) -> float:
    """Seconds of a command."""
    begin = time.perf_counter()
    args = [sys.executable, "-m", "sfm", *map(str, words)]
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measured(part: Part, real: Path, base: Path, count: int) -> dict[str, float]:
    copied(real, runs := base / part, count)
    if part == "runs":
        log = sum(path.stat().st_size for path in runs.glob("*/metrics.jsonl"))
        return {
            "runs": count,
            "log_megabytes": log / 1e6,
            "seconds": min(sfm("runs", runs) for _ in range(3)),
        }
    seconds = sfm("report", runs, "--out", page := base / "report.html")
    return {"runs": count, "seconds": seconds, "page_megabytes": page.stat().st_size / 1e6}


def main(argv: Sequence[str] | None = None) -> None:
    import tyro

    options = tyro.cli(Options, prog="benchmarks.evidence", args=argv)
    here, found = machine(), {}
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        real = options.real or trained(base / "real")
        for part in options.only:
            found[part] = measured(part, real, base, options.count or COUNTS[part])
            print(
                f"{part:8}" + "  ".join(f"{key} {value:.4g}" for key, value in found[part].items()),
                flush=True,
            )
    storage.write_json(options.json, {"machine": here, "figures": found})
    print(f"written to {options.json}")


if __name__ == "__main__":
    main()
