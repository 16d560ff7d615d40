"""The table of runs, as text and as plain values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfm.errors import unknown
from sfm.report.records import Record
from sfm.report.settings import label

Row = dict[str, Any]
COLUMNS = ("run", "task", "preset", "changes", "seeds", "steps", "state")
COLUMNS += ("return", "score", "likeness", "minutes", "problem")


def row(record: Record) -> Row:
    """What a table says of a run; returns, scores and likenesses are means over its seeds."""
    means = {name: _mean(record.values(name)) for name in ("return", "score", "likeness")}
    return {
        "run": str(record.folder),
        "task": record.task,
        "preset": record.preset,
        "changes": label(record.changes, record.settings),
        "seeds": record.seeds,
        "steps": record.steps,
        "state": record.state,
        **means,
        "minutes": round(record.minutes, 3),
        "problem": record.problem,
        "returns": {str(seed): value for seed, value in record.values().items()},
    }


def ordered(rows: list[Row], by: str) -> list[Row]:
    """By a column, from the least up; with a - before it downwards. What is empty comes last."""
    name = by.removeprefix("-")
    if name not in COLUMNS:
        raise unknown("column", name, COLUMNS, COLUMNS)
    empty = [r for r in rows if r[name] in (None, "", [])]
    return sorted((r for r in rows if r not in empty), key=lambda r: r[name], reverse=by != name) + empty


SHOWN: dict[str, Callable[[Any], str]] = {
    "seeds": lambda seeds: said_seeds(seeds),
    "steps": lambda steps: f"{steps:,}",
    "return": lambda value: "" if value is None else f"{value:.1f}",
    "score": lambda value: "" if value is None else f"{value:.2f}",
    "likeness": lambda value: "" if value is None else f"{value:.2f}",
    "minutes": lambda value: f"{value:.1f}",
}
LEAST = {"changes": 20, "run": 24}  # what may be cut, and how far
SPARED = ("minutes", "score", "seeds", "changes", "preset", "steps")  # the first to go
NUMBERS = ("seeds", "steps", "return", "score", "likeness", "minutes")


def text(rows: Sequence[Row], width: int) -> str:
    """Columns side by side. To fit into `width`, what is long is cut, and what tells least is left out."""
    columns = [c for c in COLUMNS[:-1] if c in COLUMNS[:2] or any(r[c] not in (None, "", []) for r in rows)]
    left_out: list[str] = []
    for spared in (*SPARED, ""):
        cells = [[SHOWN.get(c, str)(r[c]) for c in columns] for r in rows]
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for name, least in LEAST.items():
            if name in columns:
                at, over = columns.index(name), sum(widths) + 2 * (len(widths) - 1) - width
                widths[at] = min(widths[at], max(least, widths[at] - max(0, over)))
        if sum(widths) + 2 * (len(widths) - 1) <= width:
            break
        if spared in columns:
            columns.remove(spared)
            left_out.append(spared)
    lines = [_line(columns, columns, widths), *(_line(line, columns, widths) for line in cells)]
    more = [f"no room here, but in --json: {', '.join(left_out)}"] if left_out else []
    return "\n".join(lines + more)


def said_seeds(seeds: Sequence[int]) -> str:
    """Neighbours as a range: 0-4, 7."""
    groups: list[list[int]] = []
    for seed in sorted(seeds):
        if groups and seed == groups[-1][-1] + 1:
            groups[-1].append(seed)
        else:
            groups.append([seed])
    return ", ".join(str(g[0]) if len(g) == 1 else f"{g[0]}-{g[-1]}" for g in groups)


def _line(cells: Sequence[str], columns: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        _cut(cell, width, tail=name == "run").rjust(width)
        if name in NUMBERS
        else _cut(cell, width, tail=name == "run").ljust(width)
        for cell, name, width in zip(cells, columns, widths, strict=True)
    )
    return "  ".join(padded).rstrip()


def _cut(cell: str, width: int, tail: bool) -> str:
    """Of a path the end tells more, of settings the beginning."""
    if len(cell) <= width:
        return cell
    return f"…{cell[len(cell) - width + 1 :]}" if tail else f"{cell[: width - 1]}…"


def _mean(values: dict[int, float]) -> float | None:
    return float(np.mean(list(values.values()))) if values else None
