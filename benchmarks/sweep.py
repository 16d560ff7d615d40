"""What a sweep costs: over the same runs one by one, over many jobs, and with more workers.

    python -m benchmarks.sweep [--quick] [--only overhead jobs workers]

On an idle machine. On two cores `overhead` and `workers` take less than 8 minutes together, and so do `jobs`;
with --quick all take two (for a look: its figures say little).
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.measure import Row, Settings, entry, machine
from benchmarks.suite import shown
from sfm import storage
from sfm.sweep.drive import Sweep, drive
from sfm.sweep.jobs import Job, assigned
from sfm.sweep.local import Local
from sfm.sweep.plan import wishes

Part = Literal["overhead", "jobs", "workers"]

WALKER = {"tasks": ["walker_walk"], "presets": ["fast"], "steps": 30_000}  # about 20 s each on two cores
WARM = {**WALKER, "steps": 12_000}  # fills the compilation cache with the same programs
PROBE = {
    "tasks": ["probe_point"],
    "presets": ["expert-td3"],  # needs no demonstrations
    "steps": 200,
    "changes": "learner.width=16 envs=1 random_steps=40 batch=16 chunk=10 replay=1000 eval_episodes=2",
}
BARE = """
import json, sys, sfm
task, preset, seed, folder, settings = sys.argv[1:]
sfm.train(task, preset=preset, seed=int(seed), folder=folder, **json.loads(settings))
"""


@dataclass(frozen=True)
class Options:
    """Which parts to measure, and where the figures go."""

    only: tuple[Part, ...] = ("overhead", "jobs", "workers")
    quick: bool = False
    json: Path = Path("runs/bench-sweep.json")


def planned(plan: dict[str, Any], count: int) -> list[Job]:
    """As many jobs as said, of one seed each."""
    return assigned(wishes({**plan, "seeds": f"0-{count - 1}"}), [], 1, 1)


def of_walkers(quick: bool) -> list[Job]:
    """Runs to be timed, all of whose programs have been compiled before."""
    if quick:
        changes = "envs=1 random_steps=1000 chunk=10 eval_episodes=1"
        return planned({**WALKER, "steps": 2_000, "changes": changes}, 2)
    swept(planned(WARM, 1), 1)
    return planned(WALKER, 4)


class Quiet:
    """A watcher that samples this process whenever a job has ended."""

    def __init__(self) -> None:
        self.samples: list[dict[str, float]] = []
        self.failed: list[str] = []

    def note(self, message: str) -> None:
        print(message, flush=True)

    def ended(self, name: str) -> None:
        megabytes = int(entry("/proc/self/status", "RssAnon").split()[0]) / 1024
        files, threads = (len(os.listdir(f"/proc/self/{what}")) for what in ("fd", "task"))
        self.samples.append({"megabytes": megabytes, "files": files, "threads": threads})

    def look(self) -> None:
        pass


def swept(jobs: list[Job], workers: int) -> tuple[float, Quiet]:
    """Seconds of a sweep, and what was seen of it; all its jobs have to finish."""
    with tempfile.TemporaryDirectory() as folder:
        begin, quiet = time.perf_counter(), Quiet()
        sweep = Sweep(Path(folder), jobs)
        drive(sweep, Local(workers), quiet)
        seconds = time.perf_counter() - begin
        assert set(sweep.state.values()) == {"finished"}, sweep.error
    return seconds, quiet


def overhead(settings: Settings) -> Iterator[Row]:
    """Seconds of the command with one worker, over those of the same runs in a process each, one by one."""
    jobs = of_walkers(settings.quick)
    turns = [(commanded(jobs), alone(jobs)) for _ in range(1 if settings.quick else 2)]
    sweep, bare = (min(times) for times in zip(*turns, strict=True))
    yield "walker_walk", {"sweep_s": sweep, "bare_s": bare, "sweep_over_bare": sweep / bare}


def commanded(jobs: list[Job]) -> float:
    """Seconds of `sfm sweep`."""
    changes = " ".join(f"{name}={value}" for name, value in jobs[0].settings.items())
    words = ["--tasks", jobs[0].task, "--presets", jobs[0].preset]
    words += ["--seeds", f"0-{len(jobs) - 1}", "--changes", changes]
    with tempfile.TemporaryDirectory() as folder:
        return timed([*words, "--together", "1", "--workers", "1", "--folder", folder], "-m", "sfm", "sweep")


def alone(jobs: list[Job]) -> float:
    """Seconds of the jobs by `sfm.train`, which knows nothing of sweeps."""
    with tempfile.TemporaryDirectory() as folder:
        said = [[j.task, j.preset, j.seed, f"{folder}/{j.name}", storage.to_json(j.settings)] for j in jobs]
        return sum(timed(words, "-c", BARE) for words in said)


def timed(words: Sequence[object], *program: str) -> float:
    begin = time.perf_counter()
    command = [sys.executable, *program, *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def jobs(settings: Settings) -> Iterator[Row]:
    """Many jobs of a probe: what the sweep's process holds after a quarter of them and at the end."""
    count = 8 if settings.quick else 200
    seconds, quiet = swept(planned(PROBE, count), 2)
    before, after = quiet.samples[count // 4], quiet.samples[-1]
    ends = {f"{name}_end": value for name, value in after.items()}
    grown = {"end_over_quarter": after["megabytes"] / before["megabytes"]}
    yield f"{count} jobs", {"seconds": seconds, **before, **ends, **grown}


def workers(settings: Settings) -> Iterator[Row]:
    """Seconds with 1 and 2 workers, and those of 2 over the ideal, which is half of those of 1."""
    jobs = of_walkers(settings.quick)
    one, two = (swept(jobs, workers)[0] for workers in (1, 2))
    yield "walker_walk", {"one_s": one, "two_s": two, "two_over_ideal": two / (one / 2)}


def main(argv: Sequence[str] | None = None) -> None:
    import tyro

    options = tyro.cli(Options, prog="benchmarks.sweep", args=argv, config=(tyro.conf.FlagCreatePairsOff,))
    here, figures = machine(), {}
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    settings = Settings((), 0.0, options.quick)
    parts = {"overhead": overhead, "jobs": jobs, "workers": workers}
    for name in options.only:
        for subject, row in shown(name, parts[name], settings):
            figures |= {f"{name}/{subject}/{figure}": value for figure, value in row.items()}
            storage.write_json(options.json, {"machine": here, "quick": options.quick, "figures": figures})
    print(f"\nwritten to {options.json}")


if __name__ == "__main__":
    main()
