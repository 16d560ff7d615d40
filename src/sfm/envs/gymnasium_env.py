"""Any Gymnasium environment with Box observations and a bounded Box action space, as an `Env`."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import load_env_creator
from gymnasium.spaces import Box

from sfm.envs.actions import ActionScale
from sfm.envs.rendering import choose_backend
from sfm.errors import SfmError


class GymnasiumEnv:
    """A registered Gymnasium id; actions map affinely from [-1, 1] to [low, high]."""

    terminates = True  # for all that is known
    parallel = False
    rewarded = True

    def __init__(self, name: str):
        self.name = name
        self._env = env = _build(name)
        obs_space, action_space = env.observation_space, env.action_space
        if not isinstance(obs_space, Box):
            raise SfmError(f"task '{name}' has observations {obs_space}; only a Box can be flattened.")
        if not (isinstance(action_space, Box) and action_space.is_bounded()):
            raise SfmError(f"task '{name}' has actions {action_space}; only a bounded Box is supported.")
        limit = env.spec.max_episode_steps if env.spec else None
        if limit is None:
            raise SfmError(f"task '{name}' has no time limit; register it with max_episode_steps.")
        self.max_steps = limit
        self.obs_dim, self.action_dim = int(np.prod(obs_space.shape)), int(np.prod(action_space.shape))
        self.control_timestep = 1 / (env.metadata.get("render_fps") or 30)
        self._scale = ActionScale(action_space.low.ravel(), action_space.high.ravel())
        self.low, self.high = self._scale.low, self._scale.high
        self._action_space, self.close = action_space, env.close

    def reset(self, seed: int) -> np.ndarray:
        obs, _ = self._env.reset(seed=seed)
        return _flat(obs)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        space = self._action_space
        control = self._scale.to_actuators(action).reshape(space.shape).astype(space.dtype)
        obs, reward, terminated, truncated, _ = self._env.step(control)
        return _flat(obs), float(reward), bool(terminated), bool(truncated)

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        from PIL import Image

        if self._env.render_mode != "rgb_array":
            raise SfmError(f"task '{self.name}' has no render mode rgb_array: it cannot be filmed.")
        if hasattr(self._env.unwrapped, "mujoco_renderer"):
            choose_backend()
        try:
            picture = np.asarray(self._env.render(), np.uint8)
        except (gymnasium.error.Error, ImportError) as error:
            raise _cannot(f"task '{self.name}' cannot be filmed", error) from error
        frame = Image.fromarray(picture)
        return np.asarray(frame.resize((width, height), Image.Resampling.BILINEAR))


def _build(name: str) -> gymnasium.Env:
    """Ready to render where the environment can: the mode is fixed at birth, its cost comes with use."""
    entry = gymnasium.spec(name).entry_point
    try:
        creator = load_env_creator(entry) if isinstance(entry, str) else entry
        modes = getattr(creator, "metadata", {}).get("render_modes") or ()
        rendering: dict[str, Any] = {"render_mode": "rgb_array"} if "rgb_array" in modes else {}
        return gymnasium.make(name, disable_env_checker=True, **rendering)
    except (gymnasium.error.Error, ImportError) as error:
        raise _cannot(f"task '{name}' cannot be made", error) from error


def _cannot(what: str, error: Exception) -> SfmError:
    return SfmError(f"{what}: {error}. Perhaps: pip install 'successor-feature-matching[gymnasium]'")


def _flat(obs) -> np.ndarray:
    """To float32 [obs_dim], a copy: some environments reuse their arrays."""
    return np.array(obs, np.float32).ravel()
