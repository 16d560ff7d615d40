"""Any MJCF file as an environment, on bare MuJoCo. It has no reward: what to do is what is demonstrated."""

from pathlib import Path
from typing import Any

import numpy as np

from sfm.config.robot import RobotConfig
from sfm.envs import rendering
from sfm.envs.actions import ActionScale
from sfm.envs.base import Motion, check_motion, checked_state
from sfm.envs.mjcf import files, servos, starts
from sfm.envs.mjcf.files import mujoco
from sfm.envs.mjcf.observation import Observation
from sfm.errors import SfmError

USUAL_HZ = 50.0


class MjcfEnv:
    """The robot of an MJCF file, or of the zip that `pack` made of one.

    `motion`: states in which episodes start, and from which is known what counts as fallen.
    """

    rewarded = False  # every reward is 0

    def __init__(self, path: str | Path, config: RobotConfig | None = None, motion: Motion | None = None):
        self.name, c = str(path), config or RobotConfig()
        spec = files.read(path)
        if c.actuators == "pd":
            servos.fit(spec, path)
        self.model = model = files.compiled(spec, path)
        self.data = mujoco.MjData(model)
        self.substeps = _substeps(model.opt.timestep, c.control_hz, self.name)
        self.control_timestep = self.substeps * model.opt.timestep
        self.max_steps = max(1, round(c.seconds / self.control_timestep))
        self.parallel = self.substeps > 1
        self._observation = Observation(model, c.sensors)
        self.root = self._observation.root
        self.obs_signals, self.beyond_motion = self._observation.signals, self._observation.beyond
        self.obs_names = tuple(signal.name for signal in self.obs_signals)
        self.obs_dim = len(self.obs_names)
        self.action_names = tuple(model.actuator(i).name or f"actuator{i}" for i in range(model.nu))
        self.action_dim = model.nu
        self._scale = ActionScale(*_ranges(model, self.name))
        self.low, self.high = self._scale.low, self._scale.high
        self._start = starts.chosen(model, c, motion, self.name)
        self.terminates = c.fall > 0
        self._lowest = c.fall * self._least_height(motion) if self.terminates else -np.inf
        self._whole_steps = model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_RK4)
        self._bad = [
            int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{what}")) for what in ("QPOS", "QVEL", "QACC")
        ]
        self._steps = 0
        self._renderer: rendering.Renderer | None = None

    def reset(self, seed: int) -> np.ndarray:
        self._start(self.data, np.random.default_rng(seed))
        return self._begun()

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """What is observed in the state qpos [nq], qvel [nv]; an episode that was running is over."""
        qpos, qvel = checked_state(self, qpos, qvel)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        return self._begun()

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Start an episode there; its observation."""
        return self.observe(qpos, qvel)

    def _begun(self) -> np.ndarray:
        self._steps = 0
        mujoco.mj_forward(self.model, self.data)
        return self._observation(self.data)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        model, data = self.model, self.data
        data.ctrl[:] = self._scale.to_actuators(action)
        # Half a step first and half a step last, so that positions and velocities arrive with all that
        # follows from them. RK4 cannot be halved.
        if self._whole_steps:
            mujoco.mj_step(model, data, self.substeps)
        else:
            mujoco.mj_step2(model, data)
            if self.substeps > 1:
                mujoco.mj_step(model, data, self.substeps - 1)
        mujoco.mj_step1(model, data)
        if data.warning.number[self._bad].any():
            raise SfmError(
                f"the simulation of {self.name} broke down (numbers too large): give <option> a smaller "
                "timestep in the file, or joints more damping or armature"
            )
        self._steps += 1
        terminated = self.terminates and bool(data.xpos[self.root, 2] < self._lowest)
        truncated = self._steps >= self.max_steps and not terminated
        return self._observation(data), 0.0, terminated, truncated

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        if self._renderer is None or self._renderer.size != (height, width):
            self.close()
            self._renderer = rendering.Renderer(self.model, self._camera(), height, width)
        return self._renderer.render(self.data)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _camera(self) -> "int | rendering.Follow | None":
        """The file's first camera that follows something, or one of ours beside the robot."""
        model, modes = self.model, mujoco.mjtCamLight
        following = (int(modes.mjCAMLIGHT_TRACK), int(modes.mjCAMLIGHT_TRACKCOM))
        cameras = [i for i in range(model.ncam) if model.cam_mode[i] in following]
        if cameras or self.root is None:
            return cameras[0] if cameras else 0 if model.ncam else None
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mine = model.body_rootid[model.geom_bodyid] == self.root
        away = np.linalg.norm(data.geom_xpos[mine] - data.xpos[self.root], axis=1) + model.geom_rbound[mine]
        return rendering.Follow(self.root, distance=4.0 * float(away.max(initial=0.1)))

    def _least_height(self, motion: Motion | None) -> float:
        """Of the root in the motion."""
        if motion is None or self.root is None or "height" not in "".join(self.obs_names):
            why = "it has no root that can fall" if motion else "the demonstrations have no motion (qpos)"
            raise SfmError(f"robot.fall does not work with {self.name}: {why}")
        check_motion(motion, self.model, self.name)
        heights = []
        for qpos in motion.qpos:
            self.data.qpos[:] = qpos
            mujoco.mj_kinematics(self.model, self.data)
            heights.append(self.data.xpos[self.root, 2])
        return float(min(heights))


def _substeps(timestep: float, hz: float | None, name: str) -> int:
    """Simulation steps per step of the environment."""
    count = max(1, round(1 / (timestep * (hz or USUAL_HZ))))
    made = 1 / (count * timestep)
    if hz is not None and abs(made / hz - 1) > 0.01:
        raise SfmError(
            f"{name} is simulated in steps of {timestep:g} s, of which a whole number makes {made:.4g} steps "
            f"per second but not {hz:g}: choose --control-hz {made:.4g}, or another timestep in the file"
        )
    return count


def _ranges(model: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """What the actuators take, lowest and highest, each [nu]."""
    if model.nu == 0:
        raise SfmError(f"{name} has no actuators: --actuators pd gives each joint with limits a servo")
    ranges = model.actuator_ctrlrange.copy()
    for i in np.flatnonzero(model.actuator_ctrllimited == 0):
        joint = model.actuator_trnid[i, 0]
        on_joint = model.actuator_trntype[i] == int(mujoco.mjtTrn.mjTRN_JOINT)
        places = (
            model.actuator_biastype[i] == int(mujoco.mjtBias.mjBIAS_AFFINE)
            and model.actuator_biasprm[i, 1] != 0
        )
        if not (on_joint and places and model.jnt_limited[joint]):
            which = model.actuator(i).name or i
            raise SfmError(
                f"actuator '{which}' of {name} has no ctrlrange, so its actions have no bounds: give it one "
                "in the file, or replace all actuators with --actuators pd"
            )
        ranges[i] = model.jnt_range[joint]
    return ranges[:, 0], ranges[:, 1]
