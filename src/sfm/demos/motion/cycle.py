"""The cycle of a motion: its period, and the motion made smooth and endless by a few harmonics."""

from typing import NamedTuple

import numpy as np

SHORTEST = 0.25  # seconds: nothing that walks is faster
ALIKE = 0.2  # of its variance: what a motion may differ from itself one period later
HARMONICS = 7


class Period(NamedTuple):
    """How long a cycle lasts, and how much of its variance a motion differs by one cycle later."""

    seconds: float
    difference: float


def period(signals: np.ndarray, step: float) -> Period | None:
    """Of signals [T, n], `step` seconds apart; None where they are too short or do not move.

    A stride, not a step: signals of left and right differ after half a stride.
    """
    signals = signals - signals.mean(0)
    variance = float(np.square(signals).sum(1).mean())
    first = max(2, round(SHORTEST / step))
    last = len(signals) - max(4, len(signals) // 8)  # what overlaps must tell something
    if variance < 1e-10 or last <= first + 1:
        return None
    lags = np.arange(first - 1, last + 1)
    differences = np.array([np.square(signals[k:] - signals[:-k]).sum(1).mean() for k in lags])
    differences /= 2 * variance
    inner = differences[1:-1]
    dips = 1 + np.flatnonzero((inner <= differences[:-2]) & (inner < differences[2:]))
    if not len(dips):
        return None
    deepest = differences[dips].min()
    at = dips[differences[dips] <= deepest + 0.15 * (1 - min(deepest, 1))][0]  # the first, of its multiples
    before, here, after = differences[at - 1 : at + 2]
    bend = before - 2 * here + after
    shift = 0.5 * (before - after) / bend if bend > 1e-12 else 0.0
    return Period(float((lags[at] + shift) * step), float(here))


def looped(
    values: np.ndarray, step: float, seconds: float, times: np.ndarray, drifting: np.ndarray
) -> np.ndarray:
    """values [T, n] with this period at any times [N]: the best fit of harmonics to all cycles at once.

    Columns that are `drifting` [n] (where one walks to) also have a constant speed.
    """
    count = int(min(HARMONICS, seconds / step // 2 - 1))  # as many as its frames can tell
    own = np.arange(len(values)) * step
    speed = _speed(values, step, seconds, drifting)

    def basis(at: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi / seconds * at[:, None] * np.arange(1, count + 1)
        return np.concatenate([np.ones((len(at), 1)), np.cos(angle), np.sin(angle)], 1)

    weights = np.linalg.lstsq(basis(own), values - own[:, None] * speed, rcond=None)[0]
    return basis(times) @ weights + times[:, None] * speed


def _speed(values: np.ndarray, step: float, seconds: float, drifting: np.ndarray) -> np.ndarray:
    """The constant speed [n] of drifting columns, by all whole cycles; 0 of the others."""
    end = round(int((len(values) - 1) * step / seconds + 1e-6) * seconds / step)
    if not 0 < end < len(values):
        return np.zeros(values.shape[1])
    return np.where(drifting, (values[end:] - values[: len(values) - end]).mean(0) / (end * step), 0.0)


def sampled(values: np.ndarray, step: float, times: np.ndarray) -> np.ndarray:
    """values [T, n], `step` apart, at times [N] between them: cubic, with continuous velocities."""
    at = np.clip(times / step, 0, len(values) - 1)
    low = np.minimum(at.astype(int), len(values) - 2)
    u = (at - low)[:, None]
    slopes = np.gradient(values, axis=0)
    a, b, da, db = values[low], values[low + 1], slopes[low], slopes[low + 1]
    return (
        (1 + 2 * u) * (1 - u) ** 2 * a
        + u * (1 - u) ** 2 * da
        + u * u * (3 - 2 * u) * b
        + u * u * (u - 1) * db
    )
