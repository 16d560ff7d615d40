"""How soon does a run have most of the demonstration's return? On an idle machine, a run at a time.

    python -m benchmarks.soon [--tasks cheetah_walk] [--seeds 441 442] [--demos "demos/{task}/{index}.npz"]

Trains until an evaluation of the policy or of its average has 80% of the return of the paper's expert, with
an evaluation every 4,000 steps, and stops. Seconds are those of training, from the run's log. The figures go
to runs/soon.json, from where `python -m benchmarks.records SERIES runs/soon.json` takes them.
"""

import math
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tyro

from benchmarks.measure import machine
from sfm import storage
from sfm.errors import SfmError
from sfm.evaluation.scores import published
from sfm.training.logs import read_rows

EVERY = 4_000  # steps between two evaluations
SETTINGS = ("--schedule.eval-every", str(EVERY), "--no-video")


@dataclass(frozen=True)
class Options:
    """What to train, and how much is most."""

    tasks: tuple[str, ...] = ("walker_walk", "cheetah_walk", "quadruped_stand")
    seeds: tuple[int, ...] = (441, 442, 443, 444, 445)
    demos: str = ""
    """A file, in which {task} and {index} stand for a task and for a seed's place among the seeds; default:
    the bundled demonstration."""
    share: float = 0.8
    """Of the return of the paper's expert."""


class Reached(NamedTuple):
    seconds: float
    step: int


def reached(rows: list[dict], least: float) -> Reached | None:
    """The first evaluation that has so much, if there is one."""
    for row in (row for row in rows if "eval/kept" in row):
        if max(row[f"eval/{which}"] or -math.inf for which in ("kept", "current")) >= least:
            return Reached(row["seconds"], row["step"])
    return None


def train(task: str, seed: int, demos: str, least: float) -> Reached | None:
    """Starts the command, and ends it as soon as its log has so much; None if the run ends before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        command = [sys.executable, "-m", "sfm", "train", task, "--run", str(folder), "--seed", str(seed)]
        command += [*SETTINGS, *(["--demos", demos] if demos else [])]
        with open(Path(name) / "log.txt", "wb") as log:
            child = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            while child.poll() is None:
                if found := reached(read_rows(folder / "metrics.jsonl"), least):
                    return found
                time.sleep(0.5)
        finally:
            child.kill()
            child.wait()
        if child.returncode:
            raise SfmError((Path(name) / "log.txt").read_text().strip().splitlines()[-1])
        return reached(read_rows(folder / "metrics.jsonl"), least)


def main(options: Options) -> int:
    try:
        return measure(options)
    except SfmError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def measure(options: Options) -> int:
    """Exit status 1 if a run ended before it had so much."""
    figures: dict[str, float] = {}
    missing = False
    for task in options.tasks:
        _, expert = published()["scale"]["returns"][task]
        for index, seed in enumerate(options.seeds):
            demos = options.demos.format(task=task, index=index)
            found = train(task, seed, demos, options.share * expert)
            told = f"{found.seconds:.0f} s, {found.step:,} steps" if found else "not reached"
            print(f"{task}  seed {seed}  {told}", flush=True)
            if found:
                figures |= {f"soon/{task}/seed {seed}/{k}": float(v) for k, v in found._asdict().items()}
            storage.write_json(Path("runs/soon.json"), {"machine": machine(), "figures": figures})
        names = [f"soon/{task}/seed {seed}/seconds" for seed in options.seeds]
        mine = [figures[name] for name in names if name in figures]
        missing = missing or len(mine) < len(names)
        if mine:
            told = f"at most {max(mine):.0f} s, on average {sum(mine) / len(mine):.0f} s"
            print(f"{task}  {told}, {len(mine)} of {len(names)} seeds", flush=True)
    return int(missing)


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Options, prog="benchmarks.soon")))
