"""Episodes from N environments in lockstep, with the policy on the host.

Environments whose steps are long and outside Python go on in a few groups, each in a thread of its own. The
groups depend on N alone, so that the number of cores decides nothing but the time.
"""

import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sfm.envs import Env
from sfm.envs.signals import no_number, obs_names
from sfm.errors import SfmError
from sfm.training.buffer import Episodes

TRAIN, EVALUATE, REFRESH, VIDEO, DEMONSTRATE, RANDOM = range(6)  # streams of reset seeds

GROUPS = 4  # at most
BOUT = 10  # decisions, on average

Act = Callable[[np.ndarray, int, slice], np.ndarray]
"""(obs [K, o], time, which K of the N environments) -> action [K, a]; called from several threads."""

Elsewhere = Mapping[int, Callable[[int], np.ndarray]]
"""By environment: sets it to a state, when the rollout goes on at this time; its observation [o]."""


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(GROUPS, os.cpu_count() or 1), "rollout")


def reset_seed(seed: int, stream: int, episode: int) -> int:
    """The reset seed of an episode, a pure function of where it stands: a resumed run repeats it."""
    return int(np.random.SeedSequence((seed, stream, episode)).generate_state(1)[0])


class Rollout:
    """One episode from each of N environments in lockstep, in the making; those that end early wait."""

    def __init__(self, envs: Sequence[Env], seeds: Sequence[int], elsewhere: Elsewhere | None = None):
        """`elsewhere`: which environments begin anew in a state of their own whenever the rollout goes on."""
        self.envs, self.seeds, self.elsewhere = envs, seeds, elsewhere or {}
        n, self.steps = len(envs), max(env.max_steps for env in envs)
        self.obs = np.zeros((n, self.steps + 1, envs[0].obs_dim), np.float32)
        self.action = np.zeros((n, self.steps, envs[0].action_dim), np.float32)
        self.reward, self.length = np.zeros((n, self.steps), np.float32), np.zeros(n, np.int32)
        self.terminated = np.zeros(n, bool)
        self.time, self.running = 0, np.ones(n, bool)
        groups = min(n, GROUPS) if all(getattr(env, "parallel", False) for env in envs) else 1
        edges = [n * k // groups for k in range(groups + 1)]
        self.groups = [slice(*edge) for edge in itertools.pairwise(edges)]

    def advance(self, act: Act, until: int) -> Episodes:
        """Play on until that time. Returns what is new, as if episodes began there; length 0: nothing."""
        if self.time == 0:  # not before: until then others may use the environments
            for i, (env, seed) in enumerate(zip(self.envs, self.seeds, strict=True)):
                self.obs[i, 0] = env.reset(seed)
        begin, self.time = self.time, until
        for i, start in self.elsewhere.items():
            self.obs[i, begin], self.running[i], self.terminated[i] = start(begin), True, False
        play = functools.partial(self._play, act, range(begin, until))
        try:
            for _ in map(play, self.groups) if len(self.groups) == 1 else _threads().map(play, self.groups):
                pass
        except SfmError:
            self._check_numbers(begin)  # a state that is no number may be why
            raise
        self._check_numbers(begin)
        self.action[np.arange(self.steps)[None] >= self.length[:, None]] = 0.0
        obs, new = self.obs[:, begin : until + 1], slice(begin, until)
        length = (self.length - begin).clip(0)
        ended = self.terminated & (length > 0)
        return Episodes(obs, self.action[:, new], self.reward[:, new], length, ended)

    def _play(self, act: Act, times: range, group: slice) -> None:
        members = range(group.start, group.stop)
        for t in times:
            running = [i for i in members if self.running[i]]
            if not running:
                break
            self.action[group, t] = act(self.obs[group, t], t, group)
            for i in running:
                stepped = self.envs[i].step(self.action[i, t])
                self.obs[i, t + 1], self.reward[i, t], self.terminated[i], truncated = stepped
                self.length[i] = t + 1
                self.running[i] = not (self.terminated[i] or truncated or t == self.steps - 1)

    def _check_numbers(self, begin: int) -> None:
        """An error if an environment has given what is no number since time `begin`."""
        obs, reward = self.obs[:, begin : self.time + 1], self.reward[:, begin : self.time]
        odd, late = np.argwhere(~np.isfinite(obs)).tolist(), np.argwhere(~np.isfinite(reward)).tolist()
        if odd:
            i, time, k = odd[0]
            value, where = obs[i, time, k], f"obs '{obs_names(self.envs[i])[k]}'"
        elif late:
            i, time = late[0][0], late[0][1] + 1
            value, where = reward[i, time - 1], "its reward"
        else:
            return
        raise no_number(value, where, begin + time, self.seeds[i])

    @property
    def episodes(self) -> Episodes:
        return Episodes(self.obs, self.action, self.reward, self.length, self.terminated)


def rollout(envs: Sequence[Env], seeds: Sequence[int], act: Act) -> Episodes:
    """One episode from each environment, whole."""
    begun = Rollout(envs, seeds)
    return begun.advance(act, begun.steps)


def play(
    envs: Sequence[Env],
    seeds: Sequence[int],
    policy: Any,
    noise: np.ndarray | None = None,
    progress: Callable[[int], None] = lambda done: None,
    *,
    hold: int = 1,
) -> Episodes:
    """One episode of the policy per reset seed, as many at a time as there are environments.

    noise [T, N, a] standard normal, for exploration, or None for the greedy action. Each action holds for
    `hold` steps.
    """
    parts = []
    for begin in range(0, len(seeds), len(envs)):
        part = slice(begin, min(begin + len(envs), len(seeds)))
        now = None if noise is None else noise[:, part]
        parts.append(rollout(envs[: part.stop - begin], seeds[part], acting(policy, now, hold)))
        progress(part.stop)
    return Episodes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def acting(policy: Any, noise: np.ndarray | None = None, hold: int = 1) -> Act:
    """policy(obs, noise at that time), every `hold` steps; noise [T, N, a], or None for the greedy action."""
    held: dict[int, np.ndarray] = {}  # the action of each group

    def act(obs: np.ndarray, t: int, group: slice) -> np.ndarray:
        if t % hold == 0:
            held[group.start] = policy(obs, None if noise is None else noise[t, group])
        return held[group.start]

    return act


def in_bouts(act: Act, shape: tuple[int, int, int], share: float, draw: np.random.Generator) -> Act:
    """`act`, but for this share of all times, in bouts that hold each action at a bound; shape [T, N, a]."""
    times = np.arange(shape[0])[:, None]
    begins = np.where((draw.random(shape[:2]) < 1 / BOUT) | (times == 0), times, 0)
    begun = np.maximum.accumulate(begins, 0)  # [T, N], when the stretch began
    held = np.take_along_axis(draw.random(shape[:2]) < share, begun, 0)[..., None]
    bound = np.sign(draw.standard_normal(shape, np.float32))
    bound = np.take_along_axis(bound, begun[..., None], 0)

    def acts(obs: np.ndarray, t: int, group: slice) -> np.ndarray:
        return np.where(held[t, group], bound[t, group], act(obs, t, group))

    return acts
