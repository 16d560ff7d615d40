"""The engine of one machine: some processes at a time, each with its share of the cores."""

import itertools
import os
import queue
import threading
from collections import deque

from sfm.errors import SfmError
from sfm.sweep.child import Outcome
from sfm.sweep.process import Order, Process

GPU_MEMORY = 0.9  # of a GPU is for JAX, over all jobs on it


class Local:
    def __init__(self, workers: int, gpus: float | None = None):
        """gpus: how many a job has, perhaps a part of one; None: all jobs share those that JAX finds."""
        if workers < 1:
            raise SfmError("--workers must be at least 1")
        self._shares = shares(cores(), workers)
        self._gpus = gpus
        self._free = deque(range(workers))
        self._running: dict[str, tuple[int, Process]] = {}
        self._ended: queue.SimpleQueue[tuple[str, Outcome]] = queue.SimpleQueue()

    def slots(self) -> int:
        """How many jobs can run at a time."""
        return len(self._shares)

    def start(self, order: Order) -> None:
        slot = self._free.popleft()
        mine = self._shares[slot]
        pinned = mine if hasattr(os, "sched_setaffinity") else []
        env = gpu_environment(slot, len(self._shares), self._gpus)
        try:
            process = Process({**order, "cores": pinned, "threads": len(mine), "env": env})
        except SfmError:
            self._free.append(slot)
            raise
        self._running[order["name"]] = slot, process
        threading.Thread(target=self._wait, args=(order["name"], process), daemon=True).start()

    def _wait(self, name: str, process: Process) -> None:
        self._ended.put((name, process.outcome()))

    def ended(self, seconds: float) -> list[tuple[str, Outcome]]:
        """Jobs that have ended, after waiting for the first of them for some seconds."""
        try:
            name, outcome = self._ended.get(timeout=seconds)
        except queue.Empty:
            return []
        slot, _ = self._running.pop(name)
        self._free.append(slot)
        return [(name, outcome)]

    def stop(self) -> None:
        """Asks all jobs to save and to end; `ended` tells when they have."""
        for _, process in self._running.values():
            process.stop()

    def close(self) -> None:
        """Ends what still runs, at once."""
        for _, process in self._running.values():
            process.kill()


def cores() -> list[int]:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def shares(cores: list[int], workers: int) -> list[list[int]]:
    """The cores of each worker: as equal as can be, and shared where there are more workers than cores."""
    if workers >= len(cores):
        return [[cores[k % len(cores)]] for k in range(workers)]
    ends = [len(cores) * k // workers for k in range(workers + 1)]
    return [cores[a:b] for a, b in itertools.pairwise(ends)]


def gpu_environment(slot: int, workers: int, gpus: float | None) -> dict[str, str]:
    """What tells JAX which GPU a worker has, and how much of its memory; without one it changes nothing."""
    if gpus is None:
        return {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{GPU_MEMORY / workers:.3f}"}
    if gpus == 0:
        return {"JAX_PLATFORMS": "cpu"}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    names = visible.split(",") if visible else [str(k) for k in range(1 + int(workers * gpus))]
    first = int(slot * gpus)
    mine = [names[k % len(names)] for k in range(first, first + max(1, round(gpus)))]
    return {
        "XLA_PYTHON_CLIENT_MEM_FRACTION": f"{GPU_MEMORY * min(gpus, 1.0):.3f}",
        "CUDA_VISIBLE_DEVICES": ",".join(mine),
    }
