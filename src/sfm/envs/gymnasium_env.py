"""Any Gymnasium environment with Box observations, or a Dict of them, and bounded actions, as an `Env`."""

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, load_env_creator

from sfm.envs import mujoco_names, spaces
from sfm.envs.actions import ActionScale
from sfm.envs.importing import one_line
from sfm.envs.rendering import choose_backend
from sfm.envs.signals import Signal, numbered
from sfm.errors import SfmError


class GymnasiumEnv:
    """`env`, called `name`; actions map affinely from [-1, 1] to [low, high]."""

    terminates = True  # for all that is known
    parallel = False
    rewarded = True

    def __init__(self, env: gymnasium.Env, name: str):
        self.name, self._env = name, env
        space: Any = env.action_space
        self.obs_shape = spaces.obs_shape(env.observation_space, name)
        spaces.check_actions(space, name)
        self.action_shape = tuple(space.shape)
        self.obs_dim, self.action_dim = spaces.size(self.obs_shape), int(np.prod(space.shape))
        if 0 in (self.obs_dim, self.action_dim):
            raise SfmError(
                f"task '{name}' has no {'actions' if self.obs_dim else 'observations'}: its space is empty."
            )
        self.max_steps = _limit(env, name)
        rate = env.metadata.get("render_fps")
        self.rate_assumed, self.control_timestep = not rate, 1 / (rate or 30)
        self._scale = ActionScale(space.low.ravel(), space.high.ravel())
        self.low, self.high = self._scale.low, self._scale.high
        self._action_space, self.close = space, env.close
        self._steps = 0

    @property
    def obs_signals(self) -> tuple[Signal, ...]:
        inner: Any = self._env.unwrapped
        if structure := getattr(inner, "observation_structure", None):
            found = mujoco_names.of_structure(structure, inner.model)
            if len(found) == self.obs_dim and isinstance(self.obs_shape, list):
                return found
        return tuple(spaces.signals(self._env.observation_space))

    @property
    def obs_names(self) -> tuple[str, ...]:
        return tuple(signal.name for signal in self.obs_signals)

    @property
    def action_names(self) -> tuple[str, ...]:
        inner: Any = self._env.unwrapped
        if hasattr(inner, "mujoco_renderer") and inner.model.nu == self.action_dim:
            return mujoco_names.actuators(inner.model)
        return tuple(numbered("action", self.action_shape))

    def reset(self, seed: int) -> np.ndarray:
        self._steps = 0
        try:
            obs, _ = self._env.reset(seed=seed)
        except Exception as error:
            raise self._failed("reset", error) from error
        return self._flat(obs)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        space = self._action_space
        control = self._scale.to_actuators(action).reshape(space.shape).astype(space.dtype)
        self._steps += 1
        try:
            obs, reward, terminated, truncated, _ = self._env.step(control)
            reward = float(reward)
        except Exception as error:
            raise self._failed(f"step {self._steps}", error) from error
        return self._flat(obs), reward, bool(terminated), bool(truncated)

    def _flat(self, obs: Any) -> np.ndarray:
        try:
            with np.errstate(over="ignore"):  # what is too large for float32 is found, and named, as infinite
                return spaces.flatten(self.obs_shape, obs)
        except SfmError as error:
            raise SfmError(
                f"task '{self.name}', step {self._steps}: {error}, by its own observation_space"
            ) from error

    def _failed(self, when: str, error: Exception) -> SfmError:
        return SfmError(
            f"the environment '{self.name}' failed in {when}: {one_line(error)} (--debug shows where)"
        )

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        from PIL import Image

        if self._env.render_mode != "rgb_array":
            raise SfmError(f"task '{self.name}' has no render mode rgb_array: it cannot be filmed.")
        if hasattr(self._env.unwrapped, "mujoco_renderer"):
            choose_backend()
        try:
            picture = np.asarray(self._env.render(), np.uint8)
            frame = Image.fromarray(picture)
        except Exception as error:
            raise _cannot(f"task '{self.name}' cannot be filmed", error) from error
        return np.asarray(frame.resize((width, height), Image.Resampling.BILINEAR))


def spec_of(kind: type, kwargs: Mapping[str, Any]) -> EnvSpec:
    """Of a class that is not registered."""
    return with_kwargs(EnvSpec(kind.__name__, kind), kwargs)  # pyright: ignore


def with_kwargs(spec: EnvSpec, kwargs: Mapping[str, Any]) -> EnvSpec:
    """`spec` with further kwargs, among which may be `max_episode_steps`, as in gymnasium.make."""
    spec, kwargs = copy.copy(spec), dict(kwargs)
    spec.max_episode_steps = kwargs.pop("max_episode_steps", spec.max_episode_steps)
    spec.kwargs = spec.kwargs | kwargs
    return spec


def build(spec: EnvSpec) -> gymnasium.Env:
    """Ready to render where the environment can: the mode is fixed at birth, its cost comes with use."""
    try:
        entry = spec.entry_point
        creator = load_env_creator(entry) if isinstance(entry, str) else entry
        modes = getattr(creator, "metadata", None)
        modes = modes.get("render_modes") if isinstance(modes, dict) else None
        rendering: dict[str, Any] = {"render_mode": "rgb_array"} if "rgb_array" in (modes or ()) else {}
        if not rendering and "render_mode" in spec.kwargs:
            rendering = {"render_mode": None}  # no window per copy
        try:
            return gymnasium.make(spec, disable_env_checker=True, **rendering)
        except TypeError as error:
            if not rendering or "'render_mode'" not in str(error):
                raise
            return gymnasium.make(spec, disable_env_checker=True)
    except Exception as error:
        raise _cannot(f"task '{spec.id}' cannot be made", error) from error


def _limit(env: gymnasium.Env, name: str) -> int:
    """Steps until the time limit, by the spec or by the wrapper that sets it."""
    limit = env.spec.max_episode_steps if env.spec else None
    inner: Any = env
    while limit is None and isinstance(inner, gymnasium.Wrapper):
        limit = getattr(inner, "_max_episode_steps", None)
        inner = inner.env
    if limit is None:
        raise SfmError(
            f"task '{name}' has no time limit: register it with max_episode_steps, or give "
            "--env-kwargs '{\"max_episode_steps\": 1000}'."
        )
    return limit


def _cannot(what: str, error: Exception) -> SfmError:
    missing = isinstance(error, (gymnasium.error.DependencyNotInstalled, ImportError))
    hint = " Perhaps: pip install 'successor-feature-matching[gymnasium]'" if missing else ""
    return SfmError(f"{what}: {one_line(error)}.{hint}")
