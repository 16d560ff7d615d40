"""Groups of runs side by side: learning curves, and what they had at the end."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sfm.errors import SfmError
from sfm.report import figures
from sfm.report.curves import Axis, Log, Summary, Value, summary
from sfm.report.finals import Final, finals
from sfm.report.groups import Groups, Sample, grouped, named, pooled, samples, tell
from sfm.report.records import read_all


class Comparison(NamedTuple):
    finals: dict[str, dict[str, Final]]  # by task and group
    curves: dict[str, dict[str, Summary]]
    notes: list[str]


def gather(places: Sequence[Path], by: str | None) -> Groups:
    """Each place is a group; or the runs of all places are grouped, as those of one place always are."""
    if by or len(places) == 1:
        return grouped(read_all(places), by or "method")
    return named(places)


def comparison(groups: Groups, axis: Axis, value: Value, policy: str = "kept") -> Comparison:
    """Of all groups on all tasks; an error if nothing was evaluated."""
    log, notes, mine = Log(), [], dict[str, list[Sample]]()
    for name, records in groups.items():
        mine[name], said = samples(records)
        notes += [*tell(records), *said, *pooled(name, mine[name])]
    ends = finals(mine)
    if not any(ends.values()):
        first = f": {notes[0]}" if notes else ""
        raise SfmError(f"none of these runs has been evaluated yet{first}")
    curves = {task: _curves(log, mine, task, axis, value, policy) for task in ends}
    if not any(curves.values()):
        raise SfmError(
            f"no {value} of the {policy} policy is in the logs of these runs: choose another --value"
        )
    missing = [f"{task}: nothing of {name}" for task in ends for name in groups if name not in ends[task]]
    return Comparison(ends, {t: c for t, c in curves.items() if c}, [*notes, *log.notes, *missing])


def draw(found: Comparison, axis: Axis, value: Value, stem: Path) -> list[Path]:
    """As PNG and SVG."""
    names = list(dict.fromkeys(name for groups in found.curves.values() for name in groups))
    return figures.save(figures.learning(found.curves, axis, value, figures.styles(names)), stem)


def _curves(
    log: Log, groups: dict[str, list[Sample]], task: str, axis: Axis, value: Value, policy: str
) -> dict[str, Summary]:
    drawn = {}
    for name, mine in groups.items():
        seeds = (log.curve(s, axis, value, policy) for s in mine if s.record.task == task)
        if found := summary(seeds):
            drawn[name] = found
    return drawn
