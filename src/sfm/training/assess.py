"""Which policy to keep: TD7's checkpoint rule with the feature gap in place of the return.

A policy is judged by its worst episode. One that falls below the best so far is trained on at once; one that
survives `assess_episodes` episodes becomes the checkpoint. Early in a run the latest policy is kept.
"""

from typing import NamedTuple

from sfm.config import ScheduleConfig

__all__ = ["Assessment", "Verdict", "assess"]


class Assessment(NamedTuple):
    best: float = -float("inf")
    scores: tuple[float, ...] = ()  # of the policy under assessment
    steps: int = 0  # taken by it
    relaxed: bool = False


class Verdict(NamedTuple):
    keep: bool  # the policy becomes the checkpoint
    train: int  # environment steps whose updates are due now; 0: assess on


def assess(
    state: Assessment, scores: list[float], steps: int, now: int, config: ScheduleConfig
) -> tuple[Assessment, Verdict]:
    """Take in the `scores` of fresh episodes (`steps` long together) at environment step `now`."""
    early = now <= config.assess_after
    if not early and not state.relaxed:  # the bar of the early phase was met by chance: lower it once
        state = state._replace(best=_relax(state.best, config.assess_relax), relaxed=True)
    state = state._replace(scores=(*state.scores, *scores), steps=state.steps + steps)
    score = min(state.scores) if config.assess_by == "min" else sum(state.scores) / len(state.scores)
    enough = len(state.scores) >= (1 if early else config.assess_episodes)
    if score >= state.best and not enough:
        return state, Verdict(False, 0)
    keep = early or (score >= state.best and enough)
    verdict = Verdict(keep, state.steps)
    return Assessment(best=score if keep else state.best, relaxed=state.relaxed), verdict


def _relax(best: float, factor: float) -> float:
    """A lower bar, whatever the sign."""
    return best * factor if best < 0 else best / factor
