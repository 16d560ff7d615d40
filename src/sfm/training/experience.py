"""What the seeds live through: their training environments, and the replay that takes their episodes."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfm.config import ScheduleConfig
from sfm.envs import Env
from sfm.envs.base import Motion, MujocoEnv, as_mujoco
from sfm.errors import SfmError
from sfm.training import buffer
from sfm.training.buffer import Episodes, Layout, Table
from sfm.training.clock import SeedProgress
from sfm.training.device import Device
from sfm.training.rollout import REFRESH, TRAIN, Act, Elsewhere, Rollout, acting, in_bouts, play, reset_seed
from sfm.training.streams import ACT, FRESH, RESET, draws


class Experience:
    def __init__(
        self,
        schedule: ScheduleConfig,
        make_env: Callable[[], Env],
        progress: Sequence[SeedProgress],
        action_repeat: int = 1,
        motion: Motion | None = None,
    ):
        """`action_repeat`: environment steps per step of what `make_env` makes. `motion`: the states of the
        demonstrations in which some environments begin."""
        first = [make_env() for _ in range(schedule.envs)]
        shared = schedule.bursts_per_episode == 1  # whole episodes are collected one seed after another
        others = [first if shared else [make_env() for _ in first] for _ in progress[1:]]
        self.train_envs = [first, *others]  # of each seed
        self.schedule = schedule
        self.progress, self.action_repeat = progress, action_repeat
        self.env = env = first[0]
        self.motion = motion
        self.visited = len(first) - (schedule.resets if motion and as_mujoco(env) else 0)
        """How many environments begin where the task does: their steps are the policy's visits."""
        self.capacity = schedule.replay  # transitions
        part = math.ceil(env.max_steps / schedule.bursts_per_episode)
        self.part_ends = [*range(part, env.max_steps, part), env.max_steps]  # steps of an episode
        self.grows = len(first) == 1  # whether the parts of an episode lie one after another
        longest = env.max_steps if self.grows else part
        self.layouts = [Layout.holding(schedule.replay, longest) for _ in progress]
        slots = self.layouts[0].capacity
        self.replay = buffer.empty(len(progress), slots, env.obs_dim, env.action_dim)

    @property
    def round_steps(self) -> int:
        """Of the environments, in a round in which no episode ends early."""
        return len(self.train_envs[0]) * self.env.max_steps * self.action_repeat

    def steps(self, episodes: Episodes) -> int:
        """That the environments took for these transitions."""
        return int(episodes.length.sum()) * self.action_repeat

    def visits(self, episodes: Episodes) -> Episodes:
        """Those of a seed's episodes that began where the task does."""
        return Episodes(*(array[: self.visited] for array in episodes))

    def check_room(self) -> None:
        steps, envs = self.env.max_steps, len(self.train_envs[0])
        if steps * envs > self.capacity:
            raise SfmError(
                f"the replay ({self.capacity:,} transitions) cannot hold an episode of {steps:,} steps of "
                f"each of {envs} environments: raise schedule.replay or use fewer environments"
            )

    def begin(self, i: int, policy: Any) -> tuple[Rollout, Act]:
        """The next episodes of a seed, and how it acts in them: at random without a policy."""
        p, envs = self.progress[i], self.train_envs[i]
        starts = [reset_seed(p.seed, TRAIN, p.episodes + k) for k in range(len(envs))]
        draw = draws(p.seed, ACT, p.episodes)
        shape = (self.env.max_steps, len(envs), self.env.action_dim)
        if policy is not None:
            act = acting(policy, draw.standard_normal(shape, np.float32))
        else:
            action = 2 * draw.random(shape, np.float32) - 1
            act = lambda obs, t, group: action[t, group]  # noqa: E731
        s = self.schedule
        left = 1.0 if policy is None else s.bouts * max(0.0, 1 - 4 * p.steps / s.steps)
        acts = in_bouts(act, shape, left, draw) if s.bouts else act
        return Rollout(envs, starts, self._elsewhere(i)), acts

    def _elsewhere(self, i: int) -> Elsewhere:
        """How the environments of a seed begin that do not begin where the task does."""
        p, shown = self.progress[i], [as_mujoco(env) for env in self.train_envs[i]]

        def start(k: int, env: MujocoEnv, time: int) -> np.ndarray:
            assert self.motion is not None
            at = draws(p.seed, RESET, p.episodes + k).integers(len(self.motion.qpos), size=self.part_ends[-1])
            return env.set_state(self.motion.qpos[at[time]], self.motion.qvel[at[time]])

        those = enumerate(shown[self.visited :], self.visited)
        return {k: functools.partial(start, k, env) for k, env in those if env is not None}

    def add(self, device: Device, new: dict[int, Episodes], *, first: bool) -> None:
        """Parts of the episodes of some seeds; the `first` ones, or more of the same episodes."""
        if any(e.length.any() for e in new.values()):
            everyone = [new.get(i) for i in range(len(self.progress))]
            goes_on = self.grows and not first
            rows = buffer.rows_of(self.layouts, everyone, go_on=goes_on, visited=self.visited)
            self.replay = device.add(self.replay, *rows)

    def fresh(self, i: int, count: int, policy: Any) -> Episodes:
        """Exploring episodes that do not enter the replay."""
        p, env = self.progress[i], self.env
        starts = [reset_seed(p.seed, REFRESH, p.refreshes * count + k) for k in range(count)]
        shape = (env.max_steps, count, env.action_dim)
        noise = draws(p.seed, FRESH, p.refreshes).standard_normal(shape, np.float32)
        return play(self.train_envs[0], starts, policy, noise)

    def table(self) -> Table:
        return buffer.stack_tables(self.layouts)

    def tree(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        replay = buffer.to_host(self.replay, buffer.slots_used(self.layouts))
        return {"replay": replay, "layouts": [layout.state() for layout in self.layouts]}

    def restore(self, replay: dict[str, np.ndarray], layouts: Sequence[dict[str, np.ndarray]]) -> None:
        self.replay = buffer.from_host(self.replay, replay)
        for layout, state in zip(self.layouts, layouts, strict=True):
            layout.restore(state)
