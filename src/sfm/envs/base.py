"""What an environment is to the rest of the code."""

from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from sfm.errors import SfmError


class Motion(NamedTuple):
    """States of a demonstrated motion, in any order."""

    qpos: np.ndarray  # [N, nq]
    qvel: np.ndarray  # [N, nv]


class Env(Protocol):
    """One world, one episode at a time; actions lie in [-1, 1] whatever the actuators expect.

    After an episode has ended (terminated or truncated), `reset` comes before the next `step`.
    """

    name: str  # as given to `make`
    obs_dim: int
    action_dim: int
    low: np.ndarray  # [action_dim], what the actuators take at -1
    high: np.ndarray  # [action_dim], and at 1
    max_steps: int  # steps until the time limit
    terminates: bool  # False if that is the only way in which episodes end
    parallel: bool  # whether most of a step is spent outside Python, so that a thread pays; if left out, not
    control_timestep: float  # seconds per step: the frame rate of a video
    rewarded: bool  # whether its rewards mean anything; if left out, they do

    @property
    def obs_names(self) -> tuple[str, ...]:
        """[obs_dim]; where an environment has none, `signals.obs_names` calls them obs[0], obs[1], ..."""
        ...

    @property
    def action_names(self) -> tuple[str, ...]:
        """[action_dim], likewise."""
        ...

    def reset(self, seed: int) -> np.ndarray:
        """Start the episode that `seed` alone determines (0 <= seed < 2**32); obs float32 [obs_dim]."""
        ...

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        """Apply action [action_dim], clipped to [-1, 1]; obs, reward, terminated, truncated."""
        ...

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        """The current state as a picture, uint8 [height, width, 3]."""
        ...

    def close(self) -> None:
        """Free what rendering holds."""
        ...


SHOWN = ("model", "data", "observe", "set_state")  # what a MujocoEnv has more than an Env


class MujocoEnv(Env, Protocol):
    """An environment that shows its simulation, and takes any state of it.

    So clips of motion can be read as observations, and training can begin in demonstrated states.
    """

    model: Any  # mujoco.MjModel
    data: Any  # mujoco.MjData: where the simulation stands; for reading only

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """What this environment observes in the state qpos [nq], qvel [nv]: float32 [obs_dim].

        It moves the simulation: an episode that was running must be begun anew.
        """
        ...

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Start an episode in that state, at rest in all else (controls, activations); its observation."""
        ...


def rewarded(env: Env) -> bool:
    """Whether the returns of an environment mean anything."""
    return getattr(env, "rewarded", True)


def as_mujoco(env: Env) -> MujocoEnv | None:
    """`env`, if it shows its simulation."""
    return cast(MujocoEnv, env) if all(hasattr(env, name) for name in SHOWN) else None


def check_motion(motion: Motion, model: Any, name: str) -> None:
    """Refuses a motion of another model than that of the environment of this name."""
    for part, values, size in (("qpos", motion.qpos, model.nq), ("qvel", motion.qvel, model.nv)):
        if values.ndim != 2 or values.shape[1] != size:
            raise SfmError(
                f"the demonstrations' {part} has {values.shape[-1]} numbers per state, '{name}' has {size}: "
                "they are of another model; give those of this one, or leave qpos and qvel out"
            )


def checked_state(env: MujocoEnv, qpos: Any, qvel: Any) -> tuple[np.ndarray, np.ndarray]:
    """qpos [nq] and qvel [nv] as float64, refused where they do not fit the model."""
    parts = []
    for name, value, size in (("qpos", qpos, env.model.nq), ("qvel", qvel, env.model.nv)):
        vector = np.asarray(value, np.float64)
        if vector.shape != (size,):
            raise SfmError(f"'{env.name}' has {name} of {size} numbers, got shape {list(vector.shape)}")
        if not np.isfinite(vector).all():
            raise SfmError(f"'{env.name}' cannot be set to a state that is not finite ({name})")
        parts.append(vector)
    return parts[0], parts[1]
