"""Methods over tasks: the paper's first figure, and the plots of RLiable."""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sfm.evaluation import stats
from sfm.evaluation.scores import normalised
from sfm.evaluation.stats import Estimate
from sfm.report import figures, markup, paper
from sfm.report.figures import Looks
from sfm.report.groups import Sample

TITLES = {"mean": "mean", "median": "median", "iqm": "interquartile mean", "optimality_gap": "optimality gap"}
LEVELS = np.linspace(0, 1.2, 61)
PAIRS = 6  # methods of which all pairs are shown


class Scores(NamedTuple):
    """Methods with all of some tasks: their seeds' scores on the paper's scale, task by task."""

    tasks: list[str]
    methods: dict[str, list[np.ndarray]]
    others: dict[str, int]  # methods left out, and how many of the tasks they have


def gathered(groups: Mapping[str, Sequence[Sample]]) -> Scores:
    """Over the tasks of the method that has most of the paper's."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, samples in groups.items():
        for s in samples:
            if (value := s.value()) is not None and s.record.task in paper.tasks():
                scores = found.setdefault(name, {}).setdefault(s.record.task, [])
                scores.append(float(normalised(s.record.task, value)))
    tasks = sorted(max(found.values(), key=len, default={}))
    whole = {name: mine for name, mine in found.items() if set(tasks) <= mine.keys()}
    ranked = sorted(whole, key=lambda name: -np.mean([np.mean(whole[name][t]) for t in tasks]))
    shown = ranked[: figures.MANY]
    return Scores(
        tasks,
        {name: [np.array(whole[name][task]) for task in tasks] for name in shown},
        {name: len(mine.keys() & set(tasks)) for name, mine in found.items() if name not in shown},
    )


def sections(groups: Mapping[str, Sequence[Sample]], looks: Looks) -> list[str]:
    """Empty where no task has a scale."""
    scores = gathered(groups)
    if not scores.methods:
        return []
    found = {name: stats.aggregates(tasks) for name, tasks in scores.methods.items()}
    told = f"Over {len(scores.tasks)} of the paper's {len(paper.tasks())} tasks: {', '.join(scores.tasks)}."
    all_ = len(scores.tasks)
    left = [
        f"{name} is not in these figures: "
        + (f"it has {has} of these {all_} tasks" if has < all_ else "others have higher means")
        for name, has in scores.others.items()
    ]
    few = [name for name, tasks in scores.methods.items() if not stats.enough_seeds(tasks)]
    single = [f"{name} has no interval: on some task it has one seed" for name in few]
    notes = "".join(f"<li>{markup.escape(note)}</li>" for note in (*left, *single))
    notes = f"<ul>{notes}</ul>" if notes else ""
    return [
        markup.section(
            "figure-1", "Mean normalised return (the paper's figure 1)", *_bars(scores, found, told), notes
        ),
        markup.section("rliable", "How sure that is (RLiable)", *_rliable(scores, found, told, looks)),
    ]


def _bars(scores: Scores, found: dict[str, dict[str, Estimate]], told: str) -> list[str]:
    ours = {name: found[name]["mean"] for name in scores.methods}
    theirs = {
        f"{name}, paper": paper.mean_score(name, scores.tasks) for name in (*paper.FIGURE_1, "SFM (TD3)")
    }
    everyone = theirs | ours
    drawn = figures.bars(everyone, list(ours), "")
    said = "Mean normalised return of " + "; ".join(f"{n} {e.value:.2f}" for n, e in everyone.items())
    caption = (
        f"{told} 0 is random actions, 1 the paper's expert. In colour: ours, kept at their last evaluation, "
        "with 95% bootstrap intervals. Grey: the paper after a million steps; it tells no seeds, so "
        "that these intervals take the means of its ten seeds as normal."
    )
    rows = [
        ("paper" if name in theirs else "", (name, markup.interval(e, 3))) for name, e in everyone.items()
    ]
    table = markup.table("Mean normalised return", ("method", "mean and 95% interval"), rows)
    return [
        markup.figure(figures.inline(drawn, "bars", markup.escape(said)), caption),
        _folded("The figure as a table", table),
    ]


def _rliable(scores: Scores, found: dict[str, dict[str, Estimate]], told: str, looks: Looks) -> list[str]:
    drawn = figures.intervals(found, TITLES, looks)
    rows = [("", (name, *(markup.interval(e[key], 3) for key in TITLES))) for name, e in found.items()]
    table = markup.table("Aggregates of normalised returns", ("method", *TITLES.values()), rows)
    profiles = {name: stats.profile(tasks, LEVELS) for name, tasks in scores.methods.items()}
    caption = f"{told} 95% stratified bootstrap intervals of 50,000 replications. A lower gap is better."
    parts = [
        markup.figure(
            figures.inline(drawn, "intervals", "Aggregates with intervals; the table below has them"), caption
        ),
        table,
        markup.figure(
            figures.inline(figures.profiles(profiles, LEVELS, looks), "profiles", "Performance profiles"),
            "Performance profiles: the share of seeds, over all tasks, whose normalised return is above tau.",
        ),
    ]
    if pairs := _pairs(scores):
        rows = [("", (a, b, markup.interval(e, 3))) for (a, b), e in pairs.items()]
        columns = ("method", "over", "probability and 95% interval")
        picture = figures.inline(
            figures.improvements(pairs), "pairs", "Probabilities of improvement; the table has them"
        )
        parts += [
            markup.figure(
                picture, "How probably a seed of one method is better than one of another on the same task."
            ),
            _folded("The figure as a table", markup.table("Probability of improvement", columns, rows)),
        ]
    return parts


def _pairs(scores: Scores) -> dict[tuple[str, str], Estimate]:
    names = list(scores.methods)[:PAIRS]
    return {
        (a, b): stats.improvement(scores.methods[a], scores.methods[b])
        for a, b in itertools.combinations(names, 2)
    }


def _folded(title: str, inner: str) -> str:
    return f"<details><summary>{title}</summary>{inner}</details>"
