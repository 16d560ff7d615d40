"""Sweeps whose jobs take seconds, and their processes."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sfm.demos.formats import npz_files as npz
from sfm.demos.types import Demos
from sfm.sweep.jobs import Job, assigned
from sfm.sweep.plan import wishes
from sfm.training.checkpoint import Checkpoints
from tests.conftest import walk_to_half

T = TypeVar("T")

SETTINGS = [
    "learner.width=16 objective.features.width=16 objective.features.dim=8 objective.features.head_width=16",
    "gamma=0.9 envs=1 updates_per_step=1.0 random_steps=40 batch=16 chunk=10 replay=1000",
    "eval_every=80 eval_episodes=2 save_seconds=0",
]


def plan(folder: Path, steps: int = 160, **fields) -> dict:
    """Of jobs on `probe_point`; the demonstration lies in `folder`."""
    path = folder / "point.npz"
    if not path.exists():
        npz.save(path, Demos.from_list([walk_to_half(-1.0)]))
    common = {"tasks": ["probe_point"], "steps": steps, "changes": {"tiny": " ".join(SETTINGS)}}
    return {**common, "demos": str(path), **fields}


def jobs(folder: Path, **fields) -> list[Job]:
    """Of such a plan, a process for each seed."""
    return assigned(wishes(plan(folder, **fields)), [], 1, 1)


class Watch:
    """Notes what it is told; `looking` is called again and again."""

    def __init__(self, looking: Callable[[], object] = lambda: None):
        self.notes: list[str] = []
        self.done: list[str] = []
        self.looking = looking

    def note(self, message: str) -> None:
        self.notes.append(message)

    def ended(self, name: str) -> None:
        self.done.append(name)

    def look(self) -> None:
        self.looking()


def process_of(folder: Path, name: str) -> int | None:
    """The process of a job: it writes to the job's log."""
    log = str(folder / "logs" / f"{name}.txt")
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(place / "fd" / "2") == log and int(parent(place.name)) != 0:
                return int(place.name)
        except OSError:
            continue
    return None


def parent(process: int | str) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def saved(folder: Path, name: str) -> int:
    """The newest checkpoint of a job."""
    return max(Checkpoints(folder / name / "checkpoints").steps(), default=0)


def wait_for(what: Callable[[], T], seconds: float = 200.0) -> T:
    """Until it is true."""
    deadline = time.monotonic() + seconds
    while not (value := what()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return value
