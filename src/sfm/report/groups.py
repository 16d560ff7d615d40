"""Runs in groups whose seeds are compared: by their settings, by one of them, or as they were named."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sfm.report.records import Record, read_all
from sfm.report.settings import said, short, whole_name

Groups = dict[str, list[Record]]


class Sample(NamedTuple):
    """One seed of one run, which has been evaluated."""

    record: Record
    seed: int

    def value(self, name: str = "return") -> float | None:
        return self.record.values(name).get(self.seed)


def grouped(records: Iterable[Record], by: str = "method") -> Groups:
    """By `method`, which is the preset and what differs from it, or by the name of any setting."""
    readable = [record for record in records if record.settings]
    groups: Groups = {}
    names = {name: None for record in readable for name in record.settings}
    name = by if by == "method" else whole_name(by, names)
    for record in readable:
        value = record.method
        if name != "method":
            value = f"{short(name, names)}={said(record.settings.get(name, 'none'))}"
        groups.setdefault(value, []).append(record)
    return dict(sorted(groups.items()))


def named(places: Sequence[Path]) -> Groups:
    """Each place is a group, called by what tells its path from the others'."""
    parts = [Path(os.path.abspath(place)).parts for place in places]
    groups: Groups = {}
    for place, mine in zip(places, parts, strict=True):
        count = 1
        while count < len(mine) and sum(other[-count:] == mine[-count:] for other in parts) > 1:
            count += 1
        groups.setdefault("/".join(mine[-count:]), read_all([place]))
    return groups


def by_task(records: Iterable[Record]) -> Groups:
    tasks: Groups = {}
    for record in records:
        if record.settings:
            tasks.setdefault(record.task, []).append(record)
    return dict(sorted(tasks.items()))


def samples(records: Iterable[Record]) -> tuple[list[Sample], list[str]]:
    """The seeds that were evaluated, and what is to be said of those left out.

    The same evaluation of the same seed, to the last digit, is a copy: it counts once.
    """
    found: dict[str, Sample] = {}
    notes = []
    for record in records:
        if not record.judged:
            notes.append(f"{record.folder} has no evaluation yet: it is left out")
        for seed, row in sorted(record.judged.items()):
            key = f"{record.task} {record.method} {seed} {_identity(row)}"
            if key in found:
                notes.append(
                    f"{record.folder} has what {found[key].record.folder} has of seed {seed}: counted once"
                )
            else:
                found[key] = Sample(record, seed)
    return list(found.values()), notes


def pooled(name: str, samples: Iterable[Sample]) -> list[str]:
    """What a group takes for seeds of one method though they are not, or not only."""
    same: dict[tuple[str, str, int], list[Sample]] = {}
    methods: dict[str, dict[str, None]] = {}
    for s in samples:
        same.setdefault((s.record.task, s.record.method, s.seed), []).append(s)
        methods.setdefault(s.record.task, {})[s.record.method] = None
    mixed = [
        f"{name} has several methods on {task}, taken for seeds of one: {', '.join(found)}; "
        "--by method keeps them apart"
        for task, found in methods.items()
        if len(found) > 1
    ]
    return mixed + [
        f"{name} has seed {seed} of {task} {len(again)} times, {_why(again)}: each counts as a seed"
        for (task, _, seed), again in same.items()
        if len(again) > 1
    ]


def _why(again: Iterable[Sample]) -> str:
    demos = {path.read_bytes() if (path := s.record.folder / "demos.npz").is_file() else b"" for s in again}
    return "from different demonstrations" if len(demos) > 1 else "trained more than once"


def _identity(row: Mapping[str, object]) -> str:
    return repr(sorted((name, value) for name, value in row.items() if name != "seed"))


def tell(records: Iterable[Record]) -> list[str]:
    """A line for each run that is not whole, or goes on."""
    notes = []
    for record in records:
        if record.state == "damaged":
            rest = "what can be read of it is shown" if record.judged else "it is left out"
            notes.append(f"{record.folder} is damaged: {record.problem}; {rest}")
        elif record.state != "finished":
            steps = f"at step {record.steps:,} of {record.settings.get('schedule.steps', 0):,}"
            notes.append(f"{record.folder} is {record.state} {steps}")
    return notes
