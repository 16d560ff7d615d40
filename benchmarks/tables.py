"""What records say, as tables in Markdown."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.records import RUN, Row, grouped, identity
from sfm.evaluation.scores import normalised, reference

__all__ = ["by_updates", "curves", "first", "grid", "label", "reached", "summary"]

LABEL = ("task", "preset", "changes")


def grid(header: Iterable[Any], lines: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    head = list(header)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (head, ["---"] * len(head), *lines))


def label(row: Row) -> str:
    """A run without its seed, in a few words."""
    return " ".join(row[name] for name in LABEL if row.get(name))


def curves(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        if "kept" in row:
            place = (label(row), row["seed"], row["step"], row.get("updates", ""))
            lines.append((*place, f"{row['seconds'] / 60:.1f}", _whole(row["kept"]), _whole(row["current"])))
    return grid(("run", "seed", "step", "updates", "minutes", "kept", "current"), lines)


def by_updates(rows: list[Row], every: int = 10_000) -> str:
    """Kept policies at equal updates, the mean over seeds; between evaluations in proportion."""
    lines = []
    for group in grouped((row for row in rows if "kept" in row), "series", *LABEL).values():
        seeds = [
            np.array([(row["updates"], row["kept"]) for row in g]) for g in grouped(group, "seed").values()
        ]
        marks = np.arange(every, min(curve[:, 0].max() for curve in seeds) + 1, every)
        at_marks = np.mean([np.interp(marks, *curve.T, left=np.nan) for curve in seeds], 0)
        lines.append([label(group[0]), *map(_whole, at_marks)])
    most = max(map(len, lines))
    header = ["updates", *(f"{every * k:,}" for k in range(1, most))]
    return grid(header, (line + [""] * (most - len(line)) for line in lines))


def first(rows: list[Row], least: float) -> Row | None:
    """The first evaluation at which the kept policy had so much."""
    return next((row for row in rows if row.get("kept", -np.inf) >= least), None)


def reached(rows: list[Row], finals: list[Row], shares: tuple[float, ...] = (0.5, 0.8)) -> str:
    """When kept policies first had these shares of the expert's return, and what they had at the end."""
    ends = {identity(row): row for row in finals}
    lines = []
    for run, mine in grouped(rows, *RUN).items():
        end = ends.get(identity(mine[0]), {})
        if "expert" in end:
            there = (first(mine, share * end["expert"]) for share in shares)
            cells = [
                f"{row['step']:,} steps, {row['seconds']:.0f} s" if row else "not reached" for row in there
            ]
            said = f"{end['mean']:.0f} +- {end['std']:.0f}, {mine[-1]['seconds']:.0f} s"
            lines.append((label(mine[0]), run[-1], *cells, f"{end['step']:,}", said))
    header = ["run", "seed", *(f"{share:.0%}" for share in shares), "steps", "at the end"]
    return grid(header, lines)


def summary(finals: list[Row]) -> str:
    """Mean return of the kept policies, +- its spread over seeds; the score (0 random, 1 expert)."""
    tasks, lines = dict.fromkeys(row["task"] for row in finals), {}
    for (task, name, changed), group in grouped(finals, *LABEL).items():
        seeds = np.array([row["mean"] for row in group])
        scores = normalised(task, seeds)
        score = "" if scores is None else f" ({scores.mean():.2f})"
        cells = lines.setdefault(f"{name} {changed}".strip(), {})
        cells[task] = f"{seeds.mean():.0f} +- {seeds.std():.0f}{score}"
    for name in ("random", "expert"):
        lines[name] = {task: f"{getattr(ref, name):.0f}" for task in tasks if (ref := reference(task))}
    return grid(["", *tasks], ([name, *(line.get(t, "") for t in tasks)] for name, line in lines.items()))


def _whole(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.0f}"
