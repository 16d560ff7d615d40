"""A demonstration shown as it moves, without physics, beside the policy that imitates it."""

import numpy as np

from sfm.demos import Demos
from sfm.envs import Env
from sfm.envs.base import as_mujoco
from sfm.errors import SfmError


class Playback:
    """The first of the demonstrations, whose steps are those of `env`; it begins again when it is over."""

    def __init__(self, env: Env, qpos: np.ndarray, qvel: np.ndarray):
        """`env` shows its simulation and is used for nothing else; qpos [T+1, nq], qvel [T+1, nv]."""
        shown = as_mujoco(env)
        if shown is None:
            raise SfmError(f"'{env.name}' does not show its simulation: a demonstration cannot be played")
        self.env, self.qpos, self.qvel = shown, qpos, qvel

    @classmethod
    def of(cls, demos: Demos | None, env: Env) -> "Playback | None":
        """None where demonstrations have no motion, or the environment does not show its simulation."""
        if demos is None or demos.qpos is None or demos.qvel is None or as_mujoco(env) is None:
            return None
        states = int(demos.length[0]) + 1
        return cls(env, demos.qpos[0, :states], demos.qvel[0, :states])

    def begin(self, env: Env) -> np.ndarray:
        """Start an episode of another environment in the first state; its observation."""
        shown = as_mujoco(env)
        assert shown is not None
        return shown.set_state(self.qpos[0], self.qvel[0])

    def frame(self, step: int, height: int, width: int) -> np.ndarray:
        """The demonstration at a step, uint8 [height, width, 3]."""
        at = step % len(self.qpos)
        self.env.set_state(self.qpos[at], self.qvel[at])
        return np.array(self.env.render(height, width))
