"""The study: all plans of benchmarks/study in their order, and what they had as a table (docs/study.md).

make study                                  # all of it; days on two cores, and the same command goes on
make study ARGS=--smoke                     # one seed of two tasks, in minutes
python -m benchmarks.study --plans 1-methods --workers 1
python -m benchmarks.study --collect-only   # only the table, of what has finished so far
"""

import sys
from pathlib import Path

import numpy as np
import tyro

from benchmarks import records
from benchmarks.gather import gather
from sfm import load_demos
from sfm.demos import Demos
from sfm.demos.formats import npz_files
from sfm.envs import TASKS, make
from sfm.sweep.begin import Machines, sweep

__all__ = ["altered", "main"]

PLANS = Path(__file__).parent / "study"
FOLDER = Path("runs/study")
TABLE = "study.csv.gz"
SHORT = 250  # steps


def altered() -> dict[str, object]:
    """What demonstrations some plans have: by name a function of the bundled ones."""
    return {
        "2": lambda d: _first(d, 2),
        "5": lambda d: _first(d, 5),
        "half": lambda d: _first(d, 1)._replace(obs=d.obs[:1, :, ::2], qpos=None, qvel=None),
        "second": lambda d: _first(d, 1).thinned(2)._replace(qpos=None, qvel=None),  # they have another rate
        "short": lambda d: _first(d, 1, SHORT),
    }


def _first(demos: Demos, count: int, steps: int | None = None) -> Demos:
    """The first demonstrations, and of each the first steps."""
    steps = steps or demos.obs.shape[1] - 1
    obs, action = demos.obs[:count, : steps + 1], demos.action
    action = None if action is None else action[:count, :steps]
    qpos, qvel = (x if x is None else x[:count, : steps + 1] for x in (demos.qpos, demos.qvel))
    return Demos(obs, action, np.minimum(demos.length[:count], steps), qpos, qvel)


def prepare(folder: Path) -> None:
    """Writes the altered demonstrations of all tasks."""
    for name, alter in altered().items():
        for task in TASKS:
            path = folder / "demos" / name / f"{task}.npz"
            if path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            demos = alter(load_demos(task))  # pyright: ignore
            if name == "half":
                demos = demos._replace(names=make(task).obs_names[::2])
            npz_files.save(path, demos)


def collect(folder: Path, table: Path) -> None:
    """Puts what has finished into the table; a folder that is no sweep's has nothing."""
    for plan in sorted(folder.iterdir()):
        gather(plan.name, plan, table, table)


def main(
    plans: tuple[str, ...] = (),
    smoke: bool = False,
    collect_only: bool = False,
    workers: int | None = None,
    together: int = 1,
    folder: Path = FOLDER,
) -> int:
    """Run the study, or go on with it.

    Args:
        plans: Only these, by the names of their files.
        smoke: One seed of two tasks, to see that all of it works.
        collect_only: Only put what has finished into the table.
        workers: Jobs at a time; default: one for each core.
        together: Seeds that share a process; 0: as many as is cheapest.
        folder: Where the runs go.
    """
    names = ["smoke"] if smoke else plans or sorted(p.stem for p in PLANS.glob("[0-9]*.toml"))
    table = folder / TABLE if smoke else records.RESULTS / TABLE
    status = 0
    for name in [] if collect_only else names:
        if name.startswith(("5", "6")):
            prepare(folder)
        done = sweep(PLANS / f"{name}.toml", {}, folder / name, together, Machines("local", workers))
        status = max(status, done)
        collect(folder, table)
        if done == 130:  # stopped
            return done
    if collect_only:
        collect(folder, table)
    print(f"{len(records.read(table))} rows in {table}")
    return status


if __name__ == "__main__":
    sys.exit(tyro.cli(main))
