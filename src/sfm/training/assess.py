"""Whether to keep a policy that has played: TD7's rule with the feature gap in place of the return.

A policy is judged by its worst episode (or their mean). One that falls below the best so far is trained on at
once; one that survives `assess_episodes` episodes is kept. Early in a run the latest is kept.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sfm.config import ScheduleConfig


class Assessment(NamedTuple):
    best: float = -float("inf")
    scores: tuple[float, ...] = ()  # of the policy under assessment
    steps: int = 0  # taken by it
    settled: bool = False  # a policy has passed after the early phase


class Verdict(NamedTuple):
    keep: bool  # the policy is kept
    train: int  # environment steps whose updates are due now; 0: assess on


def assess(
    state: Assessment, scores: list[float], steps: int, now: int, config: ScheduleConfig
) -> tuple[Assessment, Verdict]:
    """Take in the `scores` of fresh episodes (`steps` long together) at environment step `now`."""
    early = now <= config.assess_after
    bar = state.best if early else _bar(state, config)
    state = state._replace(scores=(*state.scores, *scores), steps=state.steps + steps)
    score = _summary(state.scores, config)
    enough = len(state.scores) >= (1 if early else config.assess_episodes)
    if score >= bar and not enough:
        return state, Verdict(False, 0)
    keep = early or (score >= bar and enough)
    verdict = Verdict(keep, state.steps)
    settled = state.settled or (keep and not early)
    return Assessment(best=score if keep else state.best, settled=settled), verdict


def _bar(state: Assessment, config: ScheduleConfig) -> float:
    """What a policy must reach once the early phase is over."""
    if state.settled:
        return state.best
    return _relax(state.best, config.assess_relax)  # the best of the early phase was met by chance


def _summary(scores: Sequence[float], config: ScheduleConfig) -> float:
    """What a policy is judged by."""
    return min(scores) if config.assess_by == "min" else sum(scores) / len(scores)


def _relax(best: float, factor: float) -> float:
    """A lower bar, whatever the sign."""
    return best * factor if best < 0 else best / factor
