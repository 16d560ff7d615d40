"""Evaluations, which go on beside the round, with environments and a thread of their own."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sfm.config import ScheduleConfig
from sfm.envs import Env
from sfm.envs.base import rewarded
from sfm.training.clock import SeedProgress
from sfm.training.keeping import Policies
from sfm.training.rollout import EVALUATE, play, reset_seed

Row = dict[str, Any]


class Evaluator:
    def __init__(self, schedule: ScheduleConfig, make_env: Callable[[], Env]):
        self.schedule, self.make_env = schedule, make_env
        self.eval_envs: list[Env] = []  # made when they are first needed

    @contextlib.contextmanager
    def judging(
        self, due: Sequence[int], progress: Sequence[SeedProgress], policies: Policies
    ) -> Iterator[list[Row]]:
        """In here the policies that seeds `due` have on entry are evaluated; yields a list that has a row
        for each of them on exit, with the step, the updates and the training seconds of that policy."""
        rows: list[Row] = []
        with ThreadPoolExecutor(1) as thread:
            begun = []
            for i in due:
                p = progress[i]
                row = {"step": p.steps, "seed": p.seed, "updates": p.updates, "seconds": round(p.seconds, 3)}
                begun.append((row, thread.submit(self._means, p.seed, policies.current[i], policies.kept[i])))
            yield rows
            for row, job in begun:
                current, kept = job.result()
                rows.append(row | {"eval/current": current, "eval/kept": kept})

    def returns(self, seed: int, policy: Any) -> np.ndarray:
        """Of `eval_episodes` noise-free episodes, always from the same starts."""
        self.eval_envs = self.eval_envs or [self.make_env() for _ in range(self.schedule.envs)]
        starts = [reset_seed(seed, EVALUATE, k) for k in range(self.schedule.eval_episodes)]
        return play(self.eval_envs, starts, policy).returns

    def _means(self, seed: int, current: Any, kept: Any) -> tuple[float | None, float | None]:
        now = self._mean(seed, current)
        return now, now if kept is current else self._mean(seed, kept)

    def _mean(self, seed: int, policy: Any) -> float | None:
        """The mean return; None where there is no reward."""
        returns = self.returns(seed, policy)
        return float(returns.mean()) if rewarded(self.eval_envs[0]) else None
