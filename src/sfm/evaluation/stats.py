"""How sure figures over seeds are: aggregates of scores over tasks, with bootstrap intervals. NumPy only.

Scores are a list with an array of seeds' scores [n_t] for each task; tasks may have different numbers of
seeds. An interval is the percentile bootstrap's, stratified: seeds are drawn again within each task (Agarwal
et al., Deep RL at the Edge of the Statistical Precipice, 2021). One seed tells nothing of others: where a
task has only one, there is no interval.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

REPLICATIONS = 50_000
FEWER = 2_000  # for what has many points, as curves and profiles
LEVEL = 0.95
PART = 2_000  # replications at a time, which stay in the processor's cache

Scores = Sequence[np.ndarray]


class Estimate(NamedTuple):
    value: float
    low: float | None = None  # no interval: some task has one seed
    high: float | None = None


class Line(NamedTuple):
    """An estimate at each of several points, [P] each."""

    value: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def mean(tasks: Scores) -> float:
    """The mean over tasks of the mean over seeds."""
    return float(np.mean([t.mean() for t in tasks]))


def median(tasks: Scores) -> float:
    """The median over tasks of the mean over seeds."""
    return float(np.median([t.mean() for t in tasks]))


def iqm(tasks: Scores) -> float:
    """The interquartile mean: of the middle half of all seeds of all tasks."""
    return float(_middle(np.concatenate(tasks)))


def optimality_gap(tasks: Scores, enough: float = 1.0) -> float:
    """By how much scores stay below `enough`; what lies above does not make up for it."""
    return float(enough - np.minimum(np.concatenate(tasks), enough).mean())


def aggregates(tasks: Scores, replications: int = REPLICATIONS, seed: int = 0) -> dict[str, Estimate]:
    """All four with their intervals, from the same replications."""
    values = {
        "mean": mean(tasks),
        "median": median(tasks),
        "iqm": iqm(tasks),
        "optimality_gap": optimality_gap(tasks),
    }
    if not enough_seeds(tasks):
        return {name: Estimate(value) for name, value in values.items()}
    ends, rng = np.cumsum([len(t) for t in tasks])[:-1], np.random.default_rng(seed)
    drawn = [
        _aggregated(_again(tasks, min(PART, replications - done), rng), ends)
        for done in range(0, replications, PART)
    ]
    lows, highs = _interval(np.concatenate(drawn, axis=1), axis=1)
    return {
        name: Estimate(value, float(low), float(high))
        for (name, value), low, high in zip(values.items(), lows, highs, strict=True)
    }


def interval(values: np.ndarray, replications: int = REPLICATIONS, seed: int = 0) -> Estimate:
    """The mean of one task's seeds [n]."""
    line = band(np.asarray(values, float)[:, None], replications, seed)
    if line.low is None or line.high is None:
        return Estimate(float(line.value[0]))
    return Estimate(float(line.value[0]), float(line.low[0]), float(line.high[0]))


def band(curves: np.ndarray, replications: int = FEWER, seed: int = 0) -> Line:
    """The mean of seeds' curves [n, P] at each point."""
    seeds = len(curves)
    if seeds < 2:
        return Line(curves.mean(0))
    shares = _counts(np.random.default_rng(seed), seeds, replications) / seeds
    return Line(curves.mean(0), *_interval(shares @ curves))


def profile(tasks: Scores, levels: np.ndarray, replications: int = FEWER, seed: int = 0) -> Line:
    """The share of seeds above each level [P], the mean over tasks."""
    above = [(t[:, None] > levels).astype(float) for t in tasks]
    value = np.mean([a.mean(0) for a in above], 0)
    if not enough_seeds(tasks):
        return Line(value)
    rng = np.random.default_rng(seed)
    drawn = np.mean([_counts(rng, len(a), replications) @ a / len(a) for a in above], 0)
    return Line(value, *_interval(drawn))


def improvement(x: Scores, y: Scores, replications: int = REPLICATIONS, seed: int = 0) -> Estimate:
    """The probability that a seed of `x` is better than one of `y` on the same task, the mean over tasks."""
    wins = [(a[:, None] > b) + 0.5 * (a[:, None] == b) for a, b in zip(x, y, strict=True)]
    value = float(np.mean([w.mean() for w in wins]))
    if not (enough_seeds(x) and enough_seeds(y)):
        return Estimate(value)
    rng = np.random.default_rng(seed)
    drawn = np.zeros(replications)
    for w in wins:
        mine, theirs = (_counts(rng, n, replications) for n in w.shape)
        drawn += ((mine @ w) * theirs).sum(1) / w.size
    low, high = _interval(drawn / len(wins))
    return Estimate(value, float(low), float(high))


def enough_seeds(tasks: Scores) -> bool:
    """Whether each task has the two seeds that an interval needs."""
    return min(map(len, tasks)) > 1


def _again(tasks: Scores, replications: int, rng: np.random.Generator) -> np.ndarray:
    """Seeds drawn again within each task: [R, all seeds], task after task."""
    return np.concatenate([t[rng.integers(len(t), size=(replications, len(t)))] for t in tasks], axis=1)


def _aggregated(scores: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The four aggregates of replications [R, all seeds], whose tasks end before columns `ends`: [4, R]."""
    means = np.stack([task.mean(1) for task in np.split(scores, ends, axis=1)], 1)
    gap = 1 - np.minimum(scores, 1).mean(1)
    return np.stack([means.mean(1), np.median(means, 1), _middle(scores), gap])


def _middle(scores: np.ndarray) -> np.ndarray:
    """The mean of the middle half along the last axis; a quarter, rounded down, goes at either end."""
    count = scores.shape[-1]
    cut = count // 4
    if cut == 0:
        return scores.mean(-1)
    return np.partition(scores, (cut, count - cut - 1), axis=-1)[..., cut : count - cut].mean(-1)


def _counts(rng: np.random.Generator, seeds: int, replications: int) -> np.ndarray:
    """How often each seed is drawn: [R, n]."""
    return rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=replications).astype(float)


def _interval(drawn: np.ndarray, axis: int = 0) -> np.ndarray:
    """The ends of the interval, [2, ...]."""
    return np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=axis)
