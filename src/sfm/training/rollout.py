"""Episodes from N environments in lockstep, with the policy on the host."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfm.envs import Env
from sfm.training.buffer import Episodes

__all__ = [
    "DEMONSTRATE",
    "EVALUATE",
    "REFRESH",
    "TRAIN",
    "VIDEO",
    "acting",
    "coloured",
    "play",
    "reset_seed",
    "rollout",
]

TRAIN, EVALUATE, REFRESH, VIDEO, DEMONSTRATE = range(5)  # streams of reset seeds

Act = Callable[[np.ndarray, int], np.ndarray]
"""(obs [N, o], time) -> action [N, a]."""


def reset_seed(seed: int, stream: int, episode: int) -> int:
    """The reset seed of an episode, a pure function of where it stands: a resumed run repeats it."""
    return int(np.random.SeedSequence((seed, stream, episode)).generate_state(1)[0])


def rollout(envs: Sequence[Env], seeds: Sequence[int], act: Act) -> Episodes:
    """One episode from each environment; those that end early wait for the rest."""
    n, steps = len(envs), max(env.max_steps for env in envs)
    obs = np.zeros((n, steps + 1, envs[0].obs_dim), np.float32)
    action = np.zeros((n, steps, envs[0].action_dim), np.float32)
    reward, length = np.zeros((n, steps), np.float32), np.zeros(n, np.int32)
    terminated = np.zeros(n, bool)
    for i, (env, seed) in enumerate(zip(envs, seeds, strict=True)):
        obs[i, 0] = env.reset(seed)
    running = list(range(n))
    for t in range(steps):
        action[:, t] = act(obs[:, t], t)
        for i in tuple(running):
            obs[i, t + 1], reward[i, t], terminated[i], truncated = envs[i].step(action[i, t])
            if terminated[i] or truncated or t == steps - 1:
                length[i] = t + 1
                running.remove(i)
        if not running:
            break
    past = np.arange(steps)[None] >= length[:, None]
    action[past] = 0.0
    return Episodes(obs, action, reward, length, terminated)


def play(
    envs: Sequence[Env],
    seeds: Sequence[int],
    policy: Any,
    noise: np.ndarray | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Episodes:
    """One episode of the policy per reset seed, as many at a time as there are environments.

    noise [T, N, a] standard normal, for exploration, or None for the greedy action.
    """
    parts = []
    for begin in range(0, len(seeds), len(envs)):
        part = slice(begin, min(begin + len(envs), len(seeds)))
        now = None if noise is None else noise[:, part]
        parts.append(rollout(envs[: part.stop - begin], seeds[part], acting(policy, now)))
        progress(part.stop)
    return Episodes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def coloured(draw: np.random.Generator, shape: tuple[int, ...], exponent: float) -> np.ndarray:
    """Standard normal noise [T, ...] whose power falls with frequency f as f**-exponent: 0 white, 1 pink.

    Each column is a Gaussian process in time of unit variance: white noise, filtered.
    """
    white = draw.standard_normal(shape, np.float32)
    if not exponent:
        return white
    frequency = np.abs(np.fft.fftfreq(shape[0]))
    power = np.maximum(frequency, 1 / shape[0]) ** -exponent  # a constant counts as the slowest wave
    gain = np.sqrt(power / power.mean()).reshape(-1, *[1] * (len(shape) - 1))
    return np.fft.ifft(gain * np.fft.fft(white, axis=0), axis=0).real.astype(np.float32)


def acting(policy: Any, noise: np.ndarray | None = None) -> Act:
    """policy(obs, noise at that time); noise [T, N, a], or None for the greedy action."""
    return lambda obs, t: policy(obs, None if noise is None else noise[t])
