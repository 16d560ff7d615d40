"""Where the episodes of a robot start."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfm.config.robot import RobotConfig
from sfm.envs.base import Motion, check_motion
from sfm.envs.mjcf.files import mujoco
from sfm.errors import SfmError

Start = Callable[[Any, np.random.Generator], None]
"""(data, random numbers): sets positions and velocities, and all else to its defaults."""


def chosen(model: Any, config: RobotConfig, motion: Motion | None, name: str) -> Start:
    """The start that the configuration asks for; `name` is the file's, for errors."""
    kind = config.starts
    if kind == "auto":
        kind = "clip" if motion else "keyframe" if model.nkey else "model"
    if kind == "clip":
        if motion is None:
            raise SfmError("robot.starts is clip, but the demonstrations have no motion (qpos and qvel)")
        check_motion(motion, model, name)
    if kind == "keyframe" and not model.nkey:
        raise SfmError(f"robot.starts is keyframe, but {name} has no keyframe")
    noisy = _noisy_dofs(model) * config.start_noise

    def start(data: Any, rng: np.random.Generator) -> None:
        if kind == "keyframe":
            mujoco.mj_resetDataKeyframe(model, data, 0)
        else:
            mujoco.mj_resetData(model, data)
        if kind == "clip":
            assert motion is not None
            frame = rng.integers(len(motion.qpos))
            data.qpos[:], data.qvel[:] = motion.qpos[frame], motion.qvel[frame]
        mujoco.mj_integratePos(model, data.qpos, noisy * rng.standard_normal(model.nv), 1.0)
        data.qvel[:] += noisy * rng.standard_normal(model.nv)

    return start


def _noisy_dofs(model: Any) -> np.ndarray:
    """1 for the joints of the limbs, 0 for what carries the whole robot or another thing about, [nv]."""
    return (model.body_parentid[model.dof_bodyid] != 0).astype(np.float64)
