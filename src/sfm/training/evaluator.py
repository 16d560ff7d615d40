"""Evaluations, which go on beside the round, with environments and a thread of their own."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from sfm.config import ScheduleConfig
from sfm.envs import Env
from sfm.training.clock import SeedProgress
from sfm.training.rollout import EVALUATE, play, reset_seed

Row = dict[str, Any]


class Job(NamedTuple):
    """Policies to evaluate, and the beginning of the row that says how good they are."""

    row: Row
    current: Any
    kept: Any


class _Cancelled(Exception):
    pass


class Evaluator:
    def __init__(self, schedule: ScheduleConfig, make_env: Callable[[], Env]):
        self.schedule, self.make_env = schedule, make_env
        self.eval_envs: list[Env] = []  # made when they are first needed
        self.cancelled = threading.Event()

    @staticmethod
    def job(p: SeedProgress, current: Any, kept: Any) -> Job:
        """For the policies that a seed has now: the row has their step, updates and training seconds."""
        row = {"step": p.steps, "seed": p.seed, "updates": p.updates, "seconds": round(p.seconds, 3)}
        return Job(row, current, kept)

    @contextlib.contextmanager
    def judging(self, jobs: Sequence[Job]) -> Iterator[list[Row]]:
        """In here the jobs are done; yields a list that has a row for each of them on exit, unless `cancel`
        was called."""
        rows: list[Row] = []
        with ThreadPoolExecutor(1) as thread:
            begun = [(job.row, thread.submit(self._means, job)) for job in jobs]
            yield rows
            for row, result in begun:
                with contextlib.suppress(_Cancelled):
                    current, kept = result.result()
                    rows.append(row | {"eval/current": current, "eval/kept": kept})

    def cancel(self) -> None:
        """What is being judged is given up, after the episode that is being played."""
        self.cancelled.set()

    def returns(self, seed: int, policy: Any) -> np.ndarray:
        """Of `eval_episodes` noise-free episodes, always from the same starts."""
        self.eval_envs = self.eval_envs or [self.make_env() for _ in range(self.schedule.envs)]
        starts = [reset_seed(seed, EVALUATE, k) for k in range(self.schedule.eval_episodes)]
        return play(self.eval_envs, starts, policy, progress=self._look_up).returns

    def _look_up(self, done: int) -> None:
        if self.cancelled.is_set():
            raise _Cancelled

    def _means(self, job: Job) -> tuple[float, float]:
        seed, now = job.row["seed"], float(self.returns(job.row["seed"], job.current).mean())
        return now, now if job.kept is job.current else float(self.returns(seed, job.kept).mean())
