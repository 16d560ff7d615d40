"""Does anything get lost in hours of training? Runs are stopped, killed, and left without room on the disk.

    python -m benchmarks.soak [--minutes 5] [--folder runs/soak]

One run after another is trained in processes that are stopped, killed and starved of disk at random moments,
and go on. Beside them one process trains all the time, whose memory is watched, and for a while two sweeps.
All that ends must be the same to the bit as a run left alone. What is planned is for two hours; less time has
fewer of everything. A full disk is a small one of its own where this process may mount it (as root), else a
limit on the size of files. Exit status 1 if anything was lost, or if memory grew.
"""

import contextlib
import hashlib
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.same import differences, digest
from benchmarks.sweep import planned
from benchmarks.watching import Disk, Memory, drift, small_disk, worked
from sfm import storage
from sfm.errors import SfmError
from sfm.sweep.child import Outcome
from sfm.sweep.drive import Sweep
from sfm.sweep.process import Process
from sfm.training.checkpoint import Checkpoints
from sfm.training.logs import read_rows

Kind = Literal["stop", "kill", "full disk"]

PLANNED: dict[Kind, int] = {"stop": 50, "kill": 20, "full disk": 2}  # in two hours
ENDS: dict[Kind, str] = {"stop": "stopped", "kill": "killed", "full disk": "failed"}
FLAT = 2.0  # per cent by which memory may grow
STEPS = 60_000
SETTINGS = (
    "learner.width=64 features.width=32 features.dim=64 batch=64 random_steps=8000 replay=20000 "
    "eval_every=20000 eval_episodes=1 save_seconds=0"
)
PLAN = {"tasks": ["walker_walk"], "presets": ["general"], "steps": STEPS, "changes": {"small": SETTINGS}}
STEADY = {**PLAN, "steps": 10**9}  # until it is stopped
LATE = 0.6  # of the time of a whole run: what is overdue happens to a process before it has had that
PATIENCE = 4  # processes in a row that end as they should not


@dataclass(frozen=True)
class Options:
    """How long, and where everything is kept meanwhile."""

    minutes: float = 120.0
    folder: Path = Path("runs/soak")
    seed: int = 0
    """Of the moments at which something happens."""


@dataclass
class Found:
    """What has happened so far."""

    survived: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    compared: int = 0

    def lose(self, what: str) -> None:
        print(f"LOST: {what}", flush=True)
        self.lost.append(what)

    def compare(self, expected: dict[str, str], folder: Path) -> None:
        """A run that has ended, with the one that was left alone."""
        self.compared += 1
        if wrong := [
            f"{kind} {name}" for kind, names in differences(expected, left(folder)).items() for name in names
        ]:
            self.lose(f"{folder.name} is another run: {', '.join(wrong[:4])} ({len(wrong)} in all)")


def left(folder: Path) -> dict[str, str]:
    """Digests of what a run leaves: its log but for times, its policy files, the arrays of its checkpoint."""
    rows = [
        {k: v for k, v in r.items() if not k.endswith("seconds")} for r in read_rows(folder / "metrics.jsonl")
    ]
    found = {"log": storage.to_json(rows)}
    found |= {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.glob("policies/*"))}
    arrays = Checkpoints(folder / "checkpoints").load()[1]
    return found | {name: digest(array) for name, array in arrays.items()}


def moments(minutes: float, seed: int) -> list[tuple[float, Kind]]:
    """What happens when, in seconds: the time is cut into equal parts, and each has one event."""
    rng = np.random.default_rng(seed)
    kinds: list[Kind] = [k for k, n in PLANNED.items() for _ in range(max(1, round(n * minutes / 120)))]
    part = 60 * minutes / len(kinds)
    order = rng.permutation(len(kinds))
    return [(part * (i + rng.uniform()), kinds[k]) for i, k in enumerate(order)]


def process(plan: dict[str, Any], folder: Path, logs: Path) -> Process:
    """Trains the run in `folder`, or goes on with it, on one thread, so that bits do not depend on cores."""
    (job,) = planned(plan, 1)
    order = Sweep(folder.parent, [job]).order(job.name)
    places = {"folder": str(folder), "log": str(logs / f"{folder.name}.txt")}
    return Process({**order, **places, "cores": [], "threads": 1, "env": {"NPROC": "1"}})


def disturbed(
    due: list[tuple[float, Kind]],
    expected: dict[str, str],
    took: float,
    disk: Disk,
    logs: Path,
    found: Found,
) -> None:
    """Runs one after another, until everything that is due has happened and the last of them has ended.

    took: seconds of the processor that a whole run takes.
    """
    begin, number, failures = time.monotonic(), 0, 0
    waits = np.random.default_rng(0).uniform(
        0, LATE * took, size=1000
    )  # a wait longer than a run must not recur
    while due and failures < PATIENCE:
        number += 1
        folder = disk.folder / f"run{number}"
        state = ""
        while state != "finished" and failures < PATIENCE:
            late = bool(due) and time.monotonic() - begin >= due[0][0]
            child, started = process(PLAN, folder, logs), time.time()
            while child.running() and not (due and time.monotonic() - begin >= due[0][0]):
                time.sleep(0.05)
            waits = np.roll(waits, 1)
            while late and child.running() and worked(child.pid) < waits[0]:
                time.sleep(0.05)
            kind = due[0][1] if due and child.running() else None
            outcome = hit(kind, child, folder, started, disk)
            state = outcome.state
            if kind and state == ENDS[kind] and (kind != "full disk" or outcome.hopeless):
                due.pop(0)
                found.survived[kind] += 1
                failures = 0
                minutes = (time.monotonic() - begin) / 60
                print(f"{minutes:6.1f} min  {folder.name}  {kind}  at {saved(folder):,}", flush=True)
            elif state != "finished":
                failures += 1
                found.lose(f"{folder.name}: {state}, {outcome.error}")
        if state == "finished":
            found.compare(expected, folder)
            shutil.rmtree(folder)
    if due:
        found.lose(f"given up after {PATIENCE} processes that ended as they should not")


def hit(kind: Kind | None, child: Process, folder: Path, started: float, disk: Disk) -> Outcome:
    """How the process ends after this has happened to it."""
    if kind == "stop":
        while child.running() and not begun(folder, started):  # one that does not train yet ends at once
            time.sleep(0.02)
        child.stop()
    elif kind == "kill":
        child.kill()
    elif kind == "full disk":
        with disk.filled(child.pid):
            return child.outcome()
    return child.outcome()


def begun(folder: Path, started: float) -> bool:
    """Whether a process that was started then has saved."""
    for path in folder.glob("checkpoints/step_*"):
        with contextlib.suppress(FileNotFoundError):  # replaced just now
            if path.stat().st_mtime > started:
                return True
    return False


def saved(folder: Path) -> int:
    return max(Checkpoints(folder / "checkpoints").steps(), default=0)


def sweeps(base: Path) -> list[subprocess.Popen]:
    """Two of the same two jobs each, side by side."""
    words = ["--tasks", "walker_walk", "--presets", "general", "--seeds", "0-1", "--steps", str(STEPS)]
    words += ["--changes", SETTINGS, "--together", "1", "--workers", "1"]
    children = []
    for name in ("sweep1", "sweep2"):
        with open(base / f"{name}.txt", "wb") as log:
            command = [sys.executable, "-m", "sfm", "sweep", *words, "--folder", str(base / name)]
            children.append(subprocess.Popen(command, stdout=log, stderr=log))
    return children


def soak(options: Options, base: Path) -> tuple[Found, Memory]:
    found, logs = Found(), base / "logs"
    print(f"{time.strftime('%H:%M')} a run left alone", flush=True)
    alone = process(PLAN, base / "alone", logs).outcome()
    took = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    if alone.state != "finished":
        raise SfmError(f"the run left alone did not finish: {alone.error}")
    expected = left(base / "alone")
    steady = process(STEADY, base / "steady", logs)
    due = moments(options.minutes, options.seed)
    begin = time.monotonic()
    print(f"{time.strftime('%H:%M')} {len(due)} events in {options.minutes:g} minutes", flush=True)
    with Memory(steady.pid, base / "memory.csv") as memory, small_disk(base / "disk") as disk:
        side_by_side = sweeps(base)
        disturbed(due, expected, took, disk, logs, found)
        for name, child in zip(("sweep1", "sweep2"), side_by_side, strict=True):
            if child.wait() == 0:
                found.survived["sweep"] += 1
            else:
                found.lose(f"{name} ended with status {child.returncode}: see {base / name}.txt")
        while time.monotonic() - begin < 60 * options.minutes and steady.running():
            time.sleep(0.2)
    steady.stop()
    if (outcome := steady.outcome()).state != "stopped":
        found.lose(f"the steady run: {outcome.state}, {outcome.error}")
    for seed in (0, 1):
        first, second = (next((base / name).glob(f"*_seed{seed}")) for name in ("sweep1", "sweep2"))
        found.compare(expected if seed == 0 else left(first), second)
    found.compare(expected, next((base / "sweep1").glob("*_seed0")))
    return found, memory


def table(minutes: float, found: Found, grown: float) -> str:
    """What was planned, what survived, and whether all is as if nothing had happened."""
    asked = Counter(kind for _, kind in moments(minutes, 0)) | Counter({"sweep": 2})
    rows = [(kind, str(n), str(found.survived[kind])) for kind, n in asked.items()]
    lines = [f"{'event':12}{'planned':>9}{'survived':>10}"]
    lines += [f"{kind:12}{n:>9}{survived:>10}" for kind, n, survived in rows]
    lines += [f"memory drift over the last three quarters: {grown:+.2f}%"]
    lines += [f"{found.compared} runs compared, identical: {'no' if found.lost else 'yes'}"]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    import tyro

    options = tyro.cli(Options, prog="benchmarks.soak", args=argv)
    base = options.folder.absolute()
    try:
        if base.exists():
            raise SfmError(f"{base} exists: give another folder, or remove it")
        base.mkdir(parents=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the small disk goes
        found, memory = soak(options, base)
    except SfmError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    grown = drift(memory.samples)
    print(f"\n{table(options.minutes, found, grown)}")
    return 1 if found.lost or grown > FLAT else 0


if __name__ == "__main__":
    sys.exit(main())
