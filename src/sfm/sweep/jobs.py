"""Jobs: the wishes of a plan, named, with seeds that share a process. A sweep's folder remembers them.

SWEEP/sweep.json      its jobs, as they were named and grouped once
SWEEP/jobs.csv        a row per seed, renewed as jobs end
SWEEP/NAME/           the run folder of a job; .finished in it once it has
SWEEP/logs/NAME.txt   what its process said
SWEEP/.lock           held by the process that runs the sweep
"""

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfm import storage
from sfm.config import Config
from sfm.errors import SfmError
from sfm.sweep.plan import Wish, configured

TOGETHER = 5  # seeds in a process, at most; that many cost 0.6 to 0.8 of as many runs
SMALL = 2 * 64 * 128**2  # batch x width^2 up to which that is so: larger runs keep all cores busy
LONGEST = 80  # letters of a name made of changes


@dataclass(frozen=True)
class Job:
    """One run: a process that trains `seeds` seeds from `seed` upwards."""

    name: str
    task: str
    preset: str
    label: str
    settings: dict[str, Any]
    demos: str | None
    demo: int | None
    seed: int
    seeds: int = 1

    @property
    def config(self) -> Config:
        return configured(self.task, self.preset, self.settings, self.seed, self.seeds)

    def wishes(self) -> list[Wish]:
        seeds = range(self.seed, self.seed + self.seeds)
        return [
            Wish(self.task, self.preset, self.label, self.settings, self.demos, self.demo, s) for s in seeds
        ]


def assigned(wishes: Sequence[Wish], known: Sequence[Job], together: int, workers: int) -> list[Job]:
    """The jobs that do what is wished for: those `known` that do, and new ones for the rest.

    together: seeds that share a process; 0: as many as is cheapest, while every worker has work.
    """
    owners = {_key(wish): job for job in known for wish in job.wishes()}
    new = [wish for wish in wishes if _key(wish) not in owners]
    most = min(TOGETHER, -(-len(new) // workers))
    names = {job.name for job in known}
    for _, alike in itertools.groupby(sorted(new, key=_order(new)), key=_cell):
        cell = list(alike)
        size = together or (most if is_small(cell[0].config) else 1)
        for group in _groups(cell, size):
            first, last = group[0].seed, group[-1].seed
            name = _name(group[0], last, names)
            names.add(name)
            job = Job(name, *group[0][:6], seed=first, seeds=last - first + 1)
            owners |= {_key(wish): job for wish in group}
    return list({owners[_key(wish)].name: owners[_key(wish)] for wish in wishes}.values())


def is_small(config: Config) -> bool:
    """Whether its networks are so small that several seeds at once cost less than one by one."""
    return config.schedule.batch * config.learner.width**2 <= SMALL


def _key(wish: Wish) -> str:
    """What tells one seed of one job from all others; what its changes are called does not."""
    return storage.to_json([*_cell(wish), wish.seed])


def _cell(wish: Wish) -> list[Any]:
    return [wish.task, wish.preset, sorted(wish.settings.items()), wish.demos, wish.demo]


def _order(wishes: Iterable[Wish]) -> Any:
    """Cells as they come first, and their seeds upwards."""
    first: dict[str, int] = {}
    for wish in wishes:
        first.setdefault(storage.to_json(_cell(wish)), len(first))
    return lambda wish: (first[storage.to_json(_cell(wish))], wish.seed)


def _groups(cell: list[Wish], size: int) -> list[list[Wish]]:
    """Seeds that follow each other, in groups of about equal size and of `size` at most."""
    rows: list[list[Wish]] = []
    for wish in cell:
        if rows and rows[-1][-1].seed == wish.seed - 1:
            rows[-1].append(wish)
        else:
            rows.append([wish])
    groups = []
    for row in rows:
        count = -(-len(row) // size)
        ends = [round(len(row) * k / count) for k in range(count + 1)]
        groups += [row[a:b] for a, b in itertools.pairwise(ends)]
    return groups


def _name(wish: Wish, last: int, taken: Collection[str]) -> str:
    """walker_walk_fast_n_step=1_seed0-4: readable, and a folder's name on every system."""
    source = Path(wish.demos or "").stem
    parts = [wish.task, wish.preset, wish.label]
    parts += [source] if source not in (wish.task, str(wish.seed)) else []
    parts += [] if wish.demo is None else [f"demo{wish.demo}"]
    text = re.sub(r"[^\w.=+-]+", "-", "_".join(filter(None, parts)))[:LONGEST]
    name = f"{text}_seed{wish.seed}" + (f"-{last}" if last > wish.seed else "")
    others = (name if k == 1 else f"{name}.{k}" for k in itertools.count(1))
    return next(other for other in others if other not in taken)


MANIFEST = "sweep.json"


def remembered(folder: Path) -> list[Job]:
    """The jobs of a sweep's folder; none if there is no sweep yet."""
    path = Path(folder) / MANIFEST
    if not path.exists():
        return []
    try:
        return [Job(**job) for job in storage.read_json(path)["jobs"]]
    except (TypeError, KeyError) as error:
        raise SfmError(f"{path} was not written by this version of sfm: {error}") from error


def remember(folder: Path, jobs: Iterable[Job]) -> None:
    storage.write_json(Path(folder) / MANIFEST, {"jobs": [dataclasses.asdict(job) for job in jobs]})
