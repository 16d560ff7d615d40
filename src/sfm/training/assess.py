"""Which policy to keep: TD7's checkpoint rule with the feature gap in place of the return.

A policy is judged by its worst episode (or their mean). One that falls below the best so far is trained on at
once; one that survives `assess_episodes` episodes becomes the checkpoint. Early in a run the latest is kept.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfm.config import ScheduleConfig
from sfm.training.buffer import Episodes

__all__ = ["Assessment", "Judged", "Verdict", "assess", "bar_of", "summary"]


class Assessment(NamedTuple):
    best: float = -float("inf")
    scores: tuple[float, ...] = ()  # of the policy under assessment
    steps: int = 0  # taken by it
    settled: bool = False  # a policy has passed after the early phase


class Verdict(NamedTuple):
    keep: bool  # the policy becomes the checkpoint
    train: int  # environment steps whose updates are due now; 0: assess on


class Judged(NamedTuple):
    """The latest N episodes by which a policy is judged, so that they can be scored again when the features
    have changed; rows of length 0 are unused."""

    obs: np.ndarray  # [N, T+1, o]
    length: np.ndarray  # [N]
    terminated: np.ndarray  # [N]
    returns: np.ndarray  # [N]

    @classmethod
    def empty(cls, rows: int, steps: int, obs_dim: int) -> "Judged":
        states = np.zeros((rows, steps + 1, obs_dim), np.float32)
        return cls(states, np.zeros(rows, np.int32), np.zeros(rows, bool), np.zeros(rows, np.float32))

    @classmethod
    def of(cls, episodes: Episodes) -> "Judged":
        return cls(*(getattr(episodes, name) for name in cls._fields))

    @property
    def used(self) -> np.ndarray:
        return self.length > 0

    def with_(self, episodes: Episodes) -> "Judged":
        """The oldest rows make room for these."""
        new = Judged.of(episodes)
        return Judged(*(np.concatenate([a, b])[-len(a) :] for a, b in zip(self, new, strict=True)))

    def emptied(self) -> "Judged":
        return self._replace(length=np.zeros_like(self.length))


def assess(
    state: Assessment, scores: list[float], steps: int, now: int, config: ScheduleConfig
) -> tuple[Assessment, Verdict]:
    """Take in the `scores` of fresh episodes (`steps` long together) at environment step `now`."""
    early = now <= config.assess_after
    bar = state.best if early else bar_of(state, config)
    state = state._replace(scores=(*state.scores, *scores), steps=state.steps + steps)
    score = summary(state.scores, config)
    enough = len(state.scores) >= (1 if early else config.assess_episodes)
    if score >= bar and not enough:
        return state, Verdict(False, 0)
    keep = early or (score >= bar and enough)
    verdict = Verdict(keep, state.steps)
    settled = state.settled or (keep and not early)
    return Assessment(best=score if keep else state.best, settled=settled), verdict


def bar_of(state: Assessment, config: ScheduleConfig) -> float:
    """What a policy must reach once the early phase is over."""
    if state.settled:
        return state.best
    return _relax(state.best, config.assess_relax)  # the best of the early phase was met by chance


def summary(scores: Sequence[float], config: ScheduleConfig) -> float:
    """What a policy is judged by."""
    return min(scores) if config.assess_by == "min" else sum(scores) / len(scores)


def _relax(best: float, factor: float) -> float:
    """A lower bar, whatever the sign."""
    return best * factor if best < 0 else best / factor
