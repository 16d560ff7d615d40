"""Recording what happens in a Gymnasium environment."""

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from sfm.demos.save import format_of, save
from sfm.demos.types import Demos
from sfm.envs.actions import ActionScale
from sfm.envs.spaces import flatten, obs_shape


class Record(gymnasium.Wrapper):
    """Keeps every episode that ends; `close`, or the end of a `with` block, saves them if there is a path.

        with sfm.record(gymnasium.make("Pendulum-v1"), "swings.npz") as env:
            env.reset(seed=0)
            while not env.step(env.action_space.sample())[3]:  # play, here at random
                pass

    Observations become vectors as in training: a Dict in the order of its space. Actions are kept if their
    space is a bounded Box, mapped to [-1, 1], and so are rewards. The path's suffix decides the format, as
    for `sfm demos convert`.
    """

    def __init__(self, env: gymnasium.Env, path: str | Path | None = None):
        super().__init__(env)
        name = env.spec.id if env.spec else type(env.unwrapped).__name__
        self._shape = obs_shape(env.observation_space, name)
        if path is not None:
            format_of(path)
        self._path = path
        self._episodes: list[tuple[np.ndarray, np.ndarray | None, list[float]]] = []
        self._obs: list[np.ndarray] = []
        self._action: list[np.ndarray] = []
        self._reward: list[float] = []
        space = env.action_space
        self._scale = None
        if isinstance(space, Box) and space.is_bounded():
            self._scale = ActionScale(space.low.ravel(), space.high.ravel())

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Starts an episode; one that has not ended is forgotten."""
        obs, info = super().reset(**kwargs)
        self._obs, self._action, self._reward = [flatten(self._shape, obs)], [], []
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = super().step(action)
        self._obs.append(flatten(self._shape, obs))
        self._reward.append(float(reward))
        if self._scale is not None:
            played = np.clip(np.array(action, np.float64).ravel(), self._scale.low, self._scale.high)
            self._action.append(self._scale.to_unit(played))
        if terminated or truncated:
            actions = None if self._scale is None else np.stack(self._action)
            self._episodes.append((np.stack(self._obs), actions, self._reward))
            self._obs, self._action, self._reward = [], [], []
        return obs, reward, bool(terminated), bool(truncated), info

    def demos(self) -> Demos:
        """The episodes that have ended so far."""
        actions = None if self._scale is None else [action for _, action, _ in self._episodes]
        rewards = [reward for _, _, reward in self._episodes]
        return Demos.from_list(
            [obs for obs, _, _ in self._episodes], actions, "the recording", reward_list=rewards
        )

    def save(self, path: str | Path) -> None:
        """Writes the episodes that have ended so far, in the format of the suffix."""
        save(path, self.demos())

    def close(self) -> None:
        path, self._path = self._path, None
        if path is not None and self._episodes:
            self.save(path)
        elif path is not None:
            warnings.warn(f"no episode has ended, so {path} was not written", stacklevel=2)
        super().close()
