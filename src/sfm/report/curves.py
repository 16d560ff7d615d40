"""Learning curves of seeds, and their mean and band over seeds."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from sfm.evaluation.scores import normalised
from sfm.evaluation.stats import Line, band
from sfm.report.groups import Sample
from sfm.report.records import Record, evaluations

Axis = Literal["steps", "updates", "seconds"]
Value = Literal["return", "score", "likeness"]
COLUMN = {"steps": "step", "updates": "updates", "seconds": "seconds"}
POINTS = 60  # of a mean, at most


class Curve(NamedTuple):
    """Of one seed: evaluations [n] in order."""

    x: np.ndarray
    y: np.ndarray


class Summary(NamedTuple):
    """Of several seeds, where all of them have been."""

    x: np.ndarray
    line: Line
    seeds: list[Curve]


class Log:
    """The evaluations of runs, each log read once."""

    def __init__(self) -> None:
        self._rows: dict[Record, list] = {}
        self.notes: list[str] = []

    def curve(self, sample: Sample, axis: Axis, value: Value = "return", policy: str = "kept") -> Curve:
        record, column = sample.record, COLUMN[axis]
        name = f"{'likeness' if value == 'likeness' else 'eval'}/{policy}"
        points = {
            row[column]: row[name]
            for row in self._of(record)
            if row.get("seed", 0) == sample.seed and row.get(name) is not None and row.get(column) is not None
        }
        x = np.array(sorted(points), float)
        y = np.array([points[at] for at in sorted(points)], float)
        if value == "score":
            scores = normalised(record.task, y)
            return Curve(x[:0], y[:0]) if scores is None else Curve(x, scores)
        return Curve(x, y)

    def _of(self, record: Record) -> list:
        if record not in self._rows:
            self._rows[record], damaged = evaluations(record)
            if damaged:
                lines = "1 line" if damaged == 1 else f"{damaged} lines"
                self.notes.append(f"{record.folder}/metrics.jsonl: {lines} cannot be read and are left out")
        return self._rows[record]


def summary(curves: Iterable[Curve]) -> Summary | None:
    """Mean and 95% band over seeds at points that all of them enclose, each straight between evaluations."""
    seeds = [curve for curve in curves if len(curve.x)]
    if not seeds:
        return None
    low, high = max(c.x[0] for c in seeds), min(c.x[-1] for c in seeds)
    own = np.unique(np.concatenate([c.x for c in seeds]))
    x = own[(own >= low) & (own <= high)]
    if len(x) > POINTS or (len(x) < 2 and high > low):
        x = np.linspace(low, high, POINTS)
    lines = np.array([np.interp(x, c.x, c.y) for c in seeds]).reshape(len(seeds), len(x))
    return Summary(x, band(lines) if len(x) else Line(x), seeds)
