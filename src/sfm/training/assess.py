"""Whether to keep a policy that has played: TD7's rule with the feature gap in place of the return.

A policy is judged by its worst episode (or their mean). One that falls below the best so far is trained on at
once; one that survives `assess_episodes` episodes is kept. Early in a run the latest is kept.
"""

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
    bar = state.best
    if not early and not state.settled:  # the best of the early phase was met by chance: a lower bar
        bar = bar * config.assess_relax if bar < 0 else bar / config.assess_relax
    state = state._replace(scores=(*state.scores, *scores), steps=state.steps + steps)
    score = min(state.scores) if config.assess_by == "min" else sum(state.scores) / len(state.scores)
    enough = len(state.scores) >= (1 if early else config.assess_episodes)
    if score >= bar and not enough:
        return state, Verdict(False, 0)
    keep = early or score >= bar
    settled = state.settled or (keep and not early)
    return Assessment(best=score if keep else state.best, settled=settled), Verdict(keep, state.steps)
