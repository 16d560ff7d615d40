"""Evaluations, which go on beside the round, with environments and a thread of their own."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sfm.demos import Demos
from sfm.envs import Env
from sfm.training.buffer import Episodes
from sfm.training.clock import Clock, SeedProgress
from sfm.training.keeping import Policies
from sfm.training.likeness import Likeness, likeness_to
from sfm.training.rollout import EVALUATE, play, reset_seed

Row = dict[str, Any]


class Evaluator:
    def __init__(self, clock: Clock, make_env: Callable[[], Env], demos: Demos | None):
        """`demos`: what the policies are likened to, if anything."""
        self.clock, self.schedule, self.make_env, self.demos = clock, clock.schedule, make_env, demos
        self.eval_envs: list[Env] = []  # made when they are first needed, like the next
        self.likeness: Likeness | None = None

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
                chosen = self.clock.chooses(p.steps)
                policy = policies.average[i] if chosen else policies.kept[i]
                job = thread.submit(self._judge, p.seed, policies.current[i], policy)
                begun.append((i, policy if chosen else None, row, job))
            yield rows
            for i, policy, row, job in begun:
                row |= job.result()
                rows.append(row if policy is None else policies.liken(i, progress[i], policy, row))

    def returns(self, seed: int, policy: Any) -> np.ndarray:
        """Of its episodes, [N]."""
        return self.episodes(seed, policy).returns

    def episodes(self, seed: int, policy: Any) -> Episodes:
        """`eval_episodes` without noise, always from the same starts."""
        self.eval_envs = self.eval_envs or [self.make_env() for _ in range(self.schedule.envs)]
        starts = [reset_seed(seed, EVALUATE, k) for k in range(self.schedule.eval_episodes)]
        return play(self.eval_envs, starts, policy)

    def _judge(self, seed: int, current: Any, kept: Any) -> Row:
        now = self._measured(seed, current)
        then = now if kept is current else self._measured(seed, kept)
        told = (("current", now), ("kept", then))
        return {f"{name}/{which}": value for which, measured in told for name, value in measured.items()}

    def _measured(self, seed: int, policy: Any) -> dict[str, float]:
        played = self.episodes(seed, policy)
        told = {"eval": float(played.returns.mean())}
        if self.demos:
            self.likeness = self.likeness or likeness_to(self.demos, self.eval_envs)
            told["likeness"] = self.likeness(played.states)
        return told
