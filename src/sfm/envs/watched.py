"""An environment that remembers where its simulator stood in every state of every episode."""

from typing import Any

import numpy as np

from sfm.envs.base import Env, as_mujoco


class Watched:
    """Behaves as the environment within; `states(k)` are those of the k-th episode, if it shows them."""

    def __init__(self, env: Env):
        self._env, self._shown = env, as_mujoco(env)
        self._episodes: list[list[tuple[np.ndarray, np.ndarray]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def reset(self, seed: int) -> np.ndarray:
        obs = self._env.reset(seed)
        self._episodes.append([])
        self._look()
        return obs

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        stepped = self._env.step(action)
        self._look()
        return stepped

    def states(self, episode: int) -> tuple[np.ndarray, np.ndarray] | None:
        """qpos [T+1, nq] and qvel [T+1, nv] of an episode; None where there is no simulator to see."""
        if self._shown is None:
            return None
        qpos, qvel = zip(*self._episodes[episode], strict=True)
        return np.array(qpos), np.array(qvel)

    def _look(self) -> None:
        if self._shown:
            data = self._shown.data
            self._episodes[-1].append((data.qpos.copy(), data.qvel.copy()))
