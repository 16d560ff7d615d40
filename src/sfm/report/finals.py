"""What groups of runs had at their last evaluations, task by task."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sfm.evaluation.stats import Estimate, interval
from sfm.report.groups import Sample
from sfm.report.table import said_seeds

REPLICATIONS = 10_000  # of one mean: 50,000 change no digit that is shown


class Final(NamedTuple):
    """One group on one task, over its seeds."""

    seeds: list[int]
    steps: tuple[int, int]  # from the least to the most of a seed
    returns: Estimate
    spread: float | None  # standard deviation over seeds; none of one
    worst: tuple[int, float]  # the seed with the least return, and that
    score: Estimate | None
    likeness: Estimate | None
    minutes: float
    unfinished: int  # seeds of runs that have not finished


def final(samples: Sequence[Sample]) -> Final | None:
    """Of samples of one group and task; None where none has a return."""
    returns = {i: value for i, s in enumerate(samples) if (value := s.value()) is not None}
    if not returns:
        return None
    mine = [samples[i] for i in returns]
    values = np.array(list(returns.values()))
    steps = [int(s.record.judged[s.seed]["step"]) for s in mine]
    least = int(values.argmin())
    return Final(
        seeds=[s.seed for s in mine],
        steps=(min(steps), max(steps)),
        returns=interval(values, REPLICATIONS),
        spread=float(values.std(ddof=1)) if len(values) > 1 else None,
        worst=(mine[least].seed, float(values[least])),
        score=_estimate(mine, "score"),
        likeness=_estimate(mine, "likeness"),
        minutes=float(np.mean([s.record.minutes for s in mine])),
        unfinished=sum(s.record.state != "finished" for s in mine),
    )


def finals(groups: Mapping[str, Iterable[Sample]]) -> dict[str, dict[str, Final]]:
    """By task and group."""
    tasks: dict[str, dict[str, list[Sample]]] = {}
    for name, samples in groups.items():
        for sample in samples:
            tasks.setdefault(sample.record.task, {}).setdefault(name, []).append(sample)
    return {
        task: {name: found for name, mine in tasks[task].items() if (found := final(mine))}
        for task in sorted(tasks)
    }


def text(task: str, groups: Mapping[str, Final]) -> str:
    """A table of one task."""
    lines = [
        ["group", "seeds", "steps", "return", "95% interval", "worst seed", "score", "likeness", "minutes"]
    ]
    for name, f in groups.items():
        lines.append(
            [
                name,
                f"{len(f.seeds)} ({said_seeds(f.seeds)})",
                said_steps(f.steps),
                f"{f.returns.value:.1f}" + ("" if f.spread is None else f" +- {f.spread:.1f}"),
                ends(f.returns),
                f"{f.worst[0]}: {f.worst[1]:.1f}",
                *("" if e is None else f"{e.value:.2f}" for e in (f.score, f.likeness)),
                f"{f.minutes:.1f}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([task, *(f"  {row}" for row in rows)])


def said_steps(steps: tuple[int, int]) -> str:
    return f"{steps[0]:,}" if steps[0] == steps[1] else f"{steps[0]:,} to {steps[1]:,}"


def ends(estimate: Estimate, digits: int = 1) -> str:
    if estimate.low is None or estimate.high is None:
        return "none: one seed"
    return f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"


def _estimate(samples: Sequence[Sample], name: str) -> Estimate | None:
    values = [value for s in samples if (value := s.value(name)) is not None]
    return interval(np.array(values), REPLICATIONS) if values else None
