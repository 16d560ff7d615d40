"""Our tasks for users of Gymnasium: after `register()`, `gymnasium.make("sfm/walker_walk-v0")`."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from sfm.envs.actions import ActionScale
from sfm.envs.catalog import TASKS, make


def register() -> None:
    """Make the ten tasks known to Gymnasium as `sfm/<task>-v0`; calling it again changes nothing."""
    for task in TASKS:
        if (name := f"sfm/{task}-v0") not in gymnasium.registry:
            entry = "sfm.envs.registration:TaskEnv"
            gymnasium.register(name, entry, max_episode_steps=1000, kwargs={"name": task})


class TaskEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One of our environments as a Gymnasium environment; a seed starts the episode it starts in ours.

    Actions are in the actuators' own range, as with other Gymnasium environments and `Policy.predict`.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012  Gymnasium's own convention

    def __init__(self, name: str, render_mode: str | None = None):
        self._env = env = make(name)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1 / env.control_timestep)}
        self.observation_space = Box(-np.inf, np.inf, (env.obs_dim,), np.float32)
        self.action_space = Box(env.low.astype(np.float32), env.high.astype(np.float32))
        self._scale = ActionScale(env.low, env.high)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        return self._env.reset(int(self.np_random.integers(2**32)) if seed is None else seed), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        return *self._env.step(self._scale.to_unit(action)), {}

    def render(self) -> np.ndarray | None:
        return self._env.render() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self._env.close()
