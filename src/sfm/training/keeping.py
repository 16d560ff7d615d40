"""The policies of each seed: the current one, the average with those before it, and the one that is kept."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from sfm.config import ScheduleConfig
from sfm.training.assess import Assessment, Verdict, assess
from sfm.training.clock import SeedProgress


class Played(NamedTuple):
    """Episodes of a policy under assessment."""

    scores: list[float]
    steps: int  # of all of them


class Validated(NamedTuple):
    """The loss of a cloned policy on what was held out."""

    loss: float
    updates: int  # since the one before


def decide(
    state: Assessment, evidence: Played | Validated | None, now: int, schedule: ScheduleConfig
) -> tuple[Assessment, Verdict]:
    """Whether a policy is kept at step `now`: by TD7's rule, as the best validated one or, without
    evidence, as the latest."""
    match evidence:
        case Played(scores, steps):
            return assess(state, scores, steps, now, schedule)
        case Validated(loss, updates):
            if -loss >= state.best:
                return Assessment(best=-loss), Verdict(True, 0)
            return state._replace(steps=state.steps + updates), Verdict(False, 0)
        case None:
            return state, Verdict(True, 0)


class Policies:
    """On the host, one of each kind per seed."""

    current: list[Any]  # what acts and learns
    average: list[Any]  # what may be kept: the current one or, if the schedule says so, a moving average
    kept: list[Any]  # what a run leaves

    def __init__(self, schedule: ScheduleConfig, first: Sequence[Any]):
        self.schedule = schedule
        self.begin(first)

    def begin(self, first: Sequence[Any]) -> None:
        self.current, self.average, self.kept = list(first), list(first), list(first)

    def learned(self, current: list[Any], made: Sequence[int], progress: Sequence[SeedProgress]) -> None:
        """Take in the policies after `made` [S] further updates."""
        self.current = current
        if not self.schedule.average_updates:
            self.average = list(current)
            return
        for i, (new, p) in enumerate(zip(made, progress, strict=True)):
            over = max(self.schedule.average_updates, self.schedule.average_share * p.updates)
            share = np.float32(1 - math.exp(-new / over))
            self.average[i] = jax.tree.map(lambda x, y, w=share: x + w * (y - x), self.average[i], current[i])

    def judge(self, i: int, p: SeedProgress, evidence: Played | Validated | None = None) -> Verdict:
        """Decide about the average of seed `i`, and keep it or not."""
        p.assessment, verdict = decide(p.assessment, evidence, p.steps, self.schedule)
        if verdict.keep and p.most_alike is None:
            self.kept[i], p.kept_steps, p.kept_updates = self.average[i], p.steps, p.updates
        return verdict

    def liken(self, i: int, p: SeedProgress, average: Any, row: dict[str, Any]) -> dict[str, Any]:
        """Keep the average of seed `i`, which was evaluated, if none was more like the demonstrations.

        row: of the log, with its step, updates and evaluation. Returns the row, in which what is said of the
        kept policy is true of that one; what was said of the average under that name is said of the average.
        """
        told = {name: row[name] for name in ("eval/kept", "likeness/kept") if name in row}
        best = -math.inf if p.most_alike is None else p.most_alike["likeness/kept"]
        if told.get("likeness/kept", math.nan) >= best:
            self.kept[i], p.kept_steps, p.kept_updates = average, row["step"], row["updates"]
            p.most_alike = told
        averages = {name.replace("kept", "average"): value for name, value in told.items()}
        return row | averages | (p.most_alike or {})

    def tree(self) -> dict[str, list[Any]]:
        """What a checkpoint needs."""
        return {"current": self.current, "average": self.average, "kept": self.kept}

    def restore(self, tree: dict[str, list[Any]]) -> None:
        self.current, self.average, self.kept = tree["current"], tree["average"], tree["kept"]
