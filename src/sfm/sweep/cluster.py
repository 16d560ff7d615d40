"""The engine of many machines: Ray says which of them has room, and there a job is a process as on one.

`ray start --head` on one machine, `ray start --address` on the others; all see the sweep's folder.
"""

import importlib
import logging
import os
import socket
import time
from pathlib import Path
from typing import Any, NamedTuple

from sfm.errors import SfmError
from sfm.sweep.child import Outcome
from sfm.sweep.local import GPU_MEMORY
from sfm.sweep.process import Order, Process

CONNECT = 5.0  # seconds to wait for the port of a cluster
SETTINGS = b"\4"  # the kind of the frame with which HTTP/2, and so Ray, begins to speak
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + SETTINGS + b"\0\0\0\0\0"
LOOK = 0.1  # seconds between two looks at a job's process
GB = 10**9


class Resources(NamedTuple):
    """Of one job."""

    cpus: float = 1.0
    gpus: float = 0.0
    memory: float = 0.0  # GB

    def demands(self) -> dict[str, float]:
        """By Ray's names, without what is not demanded."""
        named = {"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory * GB}
        return {name: amount for name, amount in named.items() if amount > 0}

    def fit(self, node: dict[str, float]) -> int:
        """How many jobs a machine with these resources can run at a time."""
        parts = [(node.get(name, 0.0) + 1e-9) // amount for name, amount in self.demands().items()]
        return int(min(parts, default=0))


class Cluster:
    def __init__(self, address: str, resources: Resources):
        self.resources = resources
        self._ray = connected(address)
        self._jobs: dict[Any, str] = {}
        options = {"num_cpus": resources.cpus, "num_gpus": resources.gpus, "memory": resources.memory * GB}
        self._task = self._ray.remote(max_retries=0, **options)(carry)
        if not self.slots():
            self.close()
            asked = ", ".join(f"{amount:g} {name}" for name, amount in resources.demands().items())
            raise SfmError(f"no machine of the cluster at {address} has {asked}: ask for less per job")

    def slots(self) -> int:
        """How many jobs the machines that are there now can run at a time."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        return sum(self.resources.fit(node["Resources"]) for node in nodes)

    def start(self, order: Order) -> None:
        env = {"JAX_PLATFORMS": "cpu"}
        if share := self.resources.gpus:
            env = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{GPU_MEMORY * min(share, 1.0):.3f}"}
        threads = max(1, int(self.resources.cpus))
        order = {**order, "cores": [], "threads": threads, "env": env}
        self._jobs[self._task.remote(order)] = order["name"]

    def ended(self, seconds: float) -> list[tuple[str, Outcome]]:
        """Jobs that have ended, after waiting for the first of them for some seconds."""
        if not self._jobs:
            time.sleep(seconds)  # no machine is free
            return []
        done, _ = self._ray.wait(list(self._jobs), timeout=seconds)
        return [(self._jobs.pop(ref), self._outcome(ref)) for ref in done]

    def _outcome(self, ref: Any) -> Outcome:
        """What a machine said, or that it was lost with what it ran."""
        try:
            return Outcome(*self._ray.get(ref))
        except self._ray.exceptions.RayTaskError as error:  # of `carry` itself
            return Outcome("failed", f"on its machine: {str(error.cause).splitlines()[0]}")
        except self._ray.exceptions.RayError as error:
            return Outcome("killed", f"lost with its worker ({type(error).__name__})")

    def stop(self) -> None:
        """Asks all jobs to save and to end; `ended` tells when they have."""
        for ref in self._jobs:
            self._ray.cancel(ref, force=False)

    def close(self) -> None:
        """Leaves the cluster; what still runs ends at once."""
        self._ray.shutdown()


def carry(order: Order) -> Outcome:
    """On a machine of the cluster: runs a job's process to its end, which is sooner if Ray cancels."""
    folder = Path(order["folder"]).parent
    if not folder.exists():
        place = socket.gethostname()
        return Outcome("failed", f"{place} does not see {folder}: a sweep needs a shared folder", True)
    process = Process(order)
    try:
        while process.running():
            time.sleep(LOOK)
    except KeyboardInterrupt:
        process.stop()
    return process.outcome()


def connected(address: str) -> Any:
    """Ray, connected to the cluster; an error in one line if there is none."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        install = "pip install 'successor-feature-matching[ray]'"
        raise SfmError(f"--engine ray needs ray: {install}") from error
    host, colon, port = address.rpartition(":")
    if colon:
        _knock(host, port, address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        ray._private.worker.print_to_stdstream = _unsaid
    except Exception as error:  # Ray has no type for this
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise SfmError(f"no Ray cluster at {address} (is there one? ray start --head): {first}") from error
    return ray


def _unsaid(*what: Any, **how: Any) -> None:
    """Of a lost worker or machine Ray prints pages, and no option stops it; a sweep tells it in a line."""


def _knock(host: str, port: str, address: str) -> None:
    """Ray itself would try for a minute, and for ever at a port of something else."""
    if "/" in host or not port.isdigit():
        raise SfmError(f"'{address}' is no address of a Ray cluster: write HOST:PORT, or auto")
    begin = "begin one with ray start --head"
    try:
        with socket.create_connection((host, int(port)), CONNECT) as connection:
            connection.sendall(HELLO)
            answer = connection.recv(9)
    except OSError as error:
        why = error.strerror or error
        raise SfmError(f"no Ray cluster at {address}: {why}; {begin}") from error
    if answer[3:4] != SETTINGS and os.environ.get("RAY_USE_TLS") != "1":
        raise SfmError(f"no Ray cluster at {address}: something else answers there; {begin}")
