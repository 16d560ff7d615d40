"""`sfm sweep`: many runs from one plan."""

from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from sfm.cli.parse import command


@command
def main(
    plan: Positional[Path | None] = None,
    tasks: tuple[str, ...] | None = None,
    presets: tuple[str, ...] | None = None,
    seeds: tuple[str, ...] | None = None,
    changes: tuple[str, ...] | None = None,
    demos: tuple[str, ...] | None = None,
    demo: tuple[str, ...] | None = None,
    demos_per_seed: bool = False,
    steps: int | None = None,
    folder: Path | None = None,
    together: int = 0,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    address: str = "auto",
    cpus: float = 1.0,
    gpus: float | None = None,
    memory: float = 0.0,
    dry_run: bool = False,
) -> int:
    """Train every combination of tasks, presets, changes, demonstrations and seeds, each in a run folder.

    What has finished is skipped and what was stopped or killed goes on, so the same command, or one with a
    longer plan, can be given again. docs/sweeps.md tells more.

    Args:
        plan: A TOML file with the lists below; an option stands in for the list of its name.
        tasks: Tasks, as for `sfm train`.
        presets: Presets; default: general.
        seeds: Numbers, and ranges with both ends: 0-4 11.
        changes: Settings of each variant: "" "n_step=1" "learner.width=64 n_step=1".
        demos: Files of demonstrations, in which {task}, {preset} and {seed} stand for those of a job;
            default: the bundled ones.
        demo: Use only this one of several demonstrations, counted from 0; of several numbers each in turn.
        demos_per_seed: The demonstrations in --demos or --demo belong to the seeds in their order.
        steps: Short for schedule.steps of every job.
        folder: Where the runs go; default: runs/ and the plan's name, or runs/sweep.
        together: Seeds that share a process; 0: as many as is cheapest.
        engine: Processes on this machine, or a Ray cluster.
        workers: Jobs at a time, with --engine local; default: one for each core.
        address: Of the Ray cluster: HOST:PORT, or auto for one that runs here.
        cpus: Cores of a job, on a cluster.
        gpus: GPUs of a job, perhaps a part of one; by default the jobs of one machine share what it has, and
            those on a cluster have none.
        memory: GB of a job, on a cluster; 0: not stated.
        dry_run: Only tell which jobs there are, and about how long they take.
    """
    given = {"tasks": tasks, "presets": presets, "seeds": seeds, "changes": changes, "demos": demos}
    given |= {"demo": demo, "steps": steps, "demos_per_seed": demos_per_seed or None}
    where = folder or Path("runs") / (plan.stem if plan else "sweep")
    from sfm.sweep.begin import Machines, sweep

    machines = Machines(engine, workers, address, cpus, gpus, memory)
    chosen = {name: value for name, value in given.items() if value is not None}
    return sweep(plan, chosen, where, together, machines, dry_run)
