"""Evaluations, which go on beside the round, with environments and a thread of their own."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from sfm.demos import Demos
from sfm.envs import Env
from sfm.envs.base import rewarded
from sfm.training.buffer import Episodes
from sfm.training.clock import Clock, SeedProgress
from sfm.training.keeping import Policies
from sfm.training.likeness import Likeness, likeness_to
from sfm.training.rollout import EVALUATE, play, reset_seed

Row = dict[str, Any]


class Job(NamedTuple):
    """Policies to evaluate, and the beginning of the row that says how good they are."""

    i: int  # which of the seeds
    row: Row
    chosen: bool  # whether the average may be kept for what the evaluation says
    current: Any
    other: Any  # the kept policy, or the average


class _Cancelled(Exception):
    pass


class Evaluator:
    def __init__(
        self,
        clock: Clock,
        make_env: Callable[[], Env],
        demos: Demos | None,
        part: tuple[int, ...] | None = None,
    ):
        """`demos`: what the policies are likened to, if anything, in this part of a state."""
        self.clock, self.schedule, self.make_env = clock, clock.schedule, make_env
        self.demos, self.part = demos, part
        self.eval_envs: list[Env] = []  # made when they are first needed, like the next
        self.likeness: Likeness | None = None
        self.cancelled = threading.Event()

    def jobs(self, due: Sequence[int], progress: Sequence[SeedProgress], policies: Policies) -> list[Job]:
        """For the policies that seeds `due` have now: a row has their step, updates and training seconds."""
        jobs = []
        for i in due:
            p = progress[i]
            row = {"step": p.steps, "seed": p.seed, "updates": p.updates, "seconds": round(p.seconds, 3)}
            chosen = self.clock.chooses(p.steps)
            other = policies.average[i] if chosen else policies.kept[i]
            jobs.append(Job(i, row, chosen, policies.current[i], other))
        return jobs

    @contextlib.contextmanager
    def judging(
        self, jobs: Sequence[Job], progress: Sequence[SeedProgress], policies: Policies
    ) -> Iterator[list[Row]]:
        """In here the jobs are done; yields a list that has a row for each of them on exit, unless `cancel`
        was called: then they are to be done again."""
        rows: list[Row] = []
        with ThreadPoolExecutor(1) as thread:
            begun = [(job, thread.submit(self._judge, job)) for job in jobs]
            yield rows
            try:
                told = [job.row | result.result() for job, result in begun]
            except _Cancelled:
                return
            if self.cancelled.is_set():  # after its last episode
                return
            for job, row in zip(jobs, told, strict=True):
                if job.chosen:
                    row = policies.liken(job.i, progress[job.i], job.other, row)
                rows.append(row)

    def cancel(self) -> None:
        """What is being judged is given up, after the episode that is being played."""
        self.cancelled.set()

    def returns(self, seed: int, policy: Any) -> np.ndarray:
        """Of its episodes, [N]."""
        return self.episodes(seed, policy).returns

    def episodes(self, seed: int, policy: Any) -> Episodes:
        """`eval_episodes` without noise, always from the same starts."""
        self.eval_envs = self.eval_envs or [self.make_env() for _ in range(self.schedule.envs)]
        starts = [reset_seed(seed, EVALUATE, k) for k in range(self.schedule.eval_episodes)]
        return play(self.eval_envs, starts, policy, progress=self._look_up)

    def _look_up(self, done: int) -> None:
        if self.cancelled.is_set():
            raise _Cancelled

    def _judge(self, job: Job) -> Row:
        seed = job.row["seed"]
        now = self._measured(seed, job.current)
        then = now if job.other is job.current else self._measured(seed, job.other)
        told = (("current", now), ("kept", then))
        return {f"{name}/{which}": value for which, measured in told for name, value in measured.items()}

    def _measured(self, seed: int, policy: Any) -> dict[str, float | None]:
        played = self.episodes(seed, policy)
        reward = rewarded(self.eval_envs[0])
        told: dict[str, float | None] = {"eval": float(played.returns.mean()) if reward else None}
        if self.demos:
            self.likeness = self.likeness or likeness_to(self.demos, self.eval_envs, self.part)
            told["likeness"] = self.likeness(played.states)
        return told
