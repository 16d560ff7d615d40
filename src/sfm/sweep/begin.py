"""`sfm sweep` as a function: from a plan to jobs, and to an engine that runs them."""

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sfm.api import find_demos
from sfm.envs.worlds import world as find_world
from sfm.errors import SfmError
from sfm.robots import unmoved
from sfm.sweep import jobs as named
from sfm.sweep import plan as plans
from sfm.sweep.drive import Engine, Sweep, drive
from sfm.sweep.local import Local, cores
from sfm.sweep.show import Show
from sfm.sweep.table import TABLE


class Machines(NamedTuple):
    """Where jobs run, and what each of them has."""

    engine: str = "local"
    workers: int | None = None
    address: str = "auto"
    cpus: float = 1.0
    gpus: float | None = None
    memory: float = 0.0  # GB

    def opened(self) -> Engine:
        if self.engine == "local":
            return Local(len(cores()) if self.workers is None else self.workers, self.gpus)
        from sfm.sweep.cluster import Cluster, Resources

        return Cluster(self.address, Resources(self.cpus, self.gpus or 0.0, self.memory))


def sweep(
    plan: Path | None,
    given: Mapping[str, Any],
    folder: Path,
    together: int = 0,
    machines: Machines = Machines(),  # noqa: B008
    dry_run: bool = False,
) -> int:
    """The exit status: 0 all jobs have finished, 1 some have failed.

    given: fields of the plan that stand in for those of the file `plan`.
    """
    if together < 0:
        raise SfmError("--together must not be negative")
    wishes = plans.wishes({**(plans.read(plan) if plan else {}), **given})
    known = named.remembered(folder)
    with contextlib.closing(machines.opened()) as engine:
        workers = max(1, engine.slots())
        mine = named.assigned(wishes, known, together, workers)
        check(job for job in mine if not (folder / job.name / "config.json").exists())
        whole = Sweep(folder, mine, known)
        with Show(whole, workers) as show:
            show.begin(names=dry_run)
            if dry_run:
                return 0
            drive(whole, engine, show)
            return show.end(folder / TABLE)


def check(jobs: Iterable[named.Job]) -> None:
    """That there is what the jobs name, before the first of them begins."""
    worlds: set[tuple[Any, ...]] = set()
    sources: set[tuple[Any, ...]] = set()
    for job in jobs:
        config = job.config
        if (world := (job.task, config.env_kwargs, config.robot)) not in worlds:
            unmoved(find_world(job.task, config.env_arguments), config).make().close()
            worlds.add(world)
        source = job.task, job.demos, job.demo, config.needs
        if source not in sources:
            sources.add(source)
            found, _ = find_demos(job.demos, config, job.demo)
            if found is None and config.needs != "nothing":
                raise SfmError(f"no demonstrations for '{job.task}': give some with --demos")
