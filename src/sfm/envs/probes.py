"""Tiny environments whose optimal values are known: does a learner learn, does it respect the end?

With discount g, and each value the best that any policy can do:

- `probe_point`: a point x in [-1, 1] moves by 0.2 a; the reward is -(x' - 0.5)^2, for 20 steps. At
  distance d from 0.5, V(x) = -sum_k g^(k-1) max(d - 0.2 k, 0)^2 over k = 1, 2, ..., and a = (0.5 - x)/0.2,
  clipped. The end is a time limit: a learner that takes it for termination still finds the point.
- `probe_bandit`: one step from a random state, which does not matter; Q(x, a) = 1 - (a - 0.3)^2, V = 1.
  It terminates: a learner that bootstraps past the end finds values near 1/(1 - g).
- `probe_chain`: x in {0, 1/4, ..., 1}; a > 0 moves right by 1/4, else x stays. Arriving at 1 pays 1 and
  terminates, all else pays 0: V(x) = g^(n-1), with n = 4 (1 - x) steps to go. Time limit 20.
"""

from collections.abc import Callable

import numpy as np


class Probe:
    """An environment on the line [-1, 1], from a row of `PROBES`; obs [1], action [1]."""

    obs_dim = action_dim = 1
    obs_names, action_names = ("x",), ("push",)
    low, high = -np.ones(1), np.ones(1)
    terminates = rewarded = True
    parallel = False
    control_timestep = 0.1

    def __init__(self, name: str):
        self.name = name
        self.max_steps, self._start, self._move = PROBES[name]
        self._x, self._steps = 0.0, 0

    def reset(self, seed: int) -> np.ndarray:
        self._x, self._steps = self._start(np.random.default_rng(seed)), 0
        return np.array([self._x], np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        self._x, reward, terminated = self._move(self._x, float(np.clip(action[0], -1.0, 1.0)))
        self._steps += 1
        truncated = self._steps >= self.max_steps and not terminated
        return np.array([self._x], np.float32), reward, terminated, truncated

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        """A white column at x on black."""
        frame = np.zeros((height, width, 3), np.uint8)
        frame[:, round((self._x + 1) / 2 * (width - 1))] = 255
        return frame

    def close(self) -> None:
        pass


def _anywhere(rng: np.random.Generator) -> float:
    return rng.uniform(-1.0, 1.0)


def _point(x: float, a: float) -> tuple[float, float, bool]:
    x = min(max(x + 0.2 * a, -1.0), 1.0)
    return x, -((x - 0.5) ** 2), False


def _chain(x: float, a: float) -> tuple[float, float, bool]:
    x += 0.25 * (a > 0)
    return x, float(x == 1.0), x == 1.0


Start = Callable[[np.random.Generator], float]  # generator -> x
Move = Callable[[float, float], tuple[float, float, bool]]  # x, a -> x', reward, terminated
PROBES: dict[str, tuple[int, Start, Move]] = {  # time limit, start, move
    "probe_point": (20, _anywhere, _point),
    "probe_bandit": (1, _anywhere, lambda x, a: (x, 1 - (a - 0.3) ** 2, True)),
    "probe_chain": (20, lambda rng: float(rng.integers(4)) / 4, _chain),
}
