"""dm_control's suite, and the tasks we add to it, behind the `Env` contract."""

import contextlib
import functools
import importlib
import logging
import math
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np

from sfm.envs import mujoco_names, rendering
from sfm.envs.actions import ActionScale
from sfm.envs.base import checked_state
from sfm.envs.signals import Signal
from sfm.errors import SfmError


@functools.cache
def _suite():
    """dm_control.suite with our tasks registered in it."""
    # only terrains need scipy.ndimage, which takes half a second to import
    with _put_off("scipy.ndimage"):
        suite = rendering.without_gl(lambda: importlib.import_module("dm_control.suite"))
    import sfm.envs.dmc.tasks  # noqa: F401  registers on import

    return suite


@contextlib.contextmanager
def _put_off(name: str) -> Iterator[None]:
    """In here an import of module `name` gives a stand-in, which imports the real one when it is used."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = stand_in = ModuleType(name)
    vars(stand_in)["__getattr__"] = lambda attribute: getattr(importlib.import_module(name), attribute)
    try:
        yield
    finally:
        del sys.modules[name]


@functools.cache
def tasks() -> dict[str, tuple[str, str]]:
    """Name to (domain, task), for every task of the suite and ours."""
    from_suite = _suite().ALL_TASKS
    from sfm.envs.dmc.tasks import ADDED

    return {f"{domain}_{task}": (domain, task) for domain, task in (*from_suite, *ADDED)}


class DmcEnv:
    """A task of the suite; the observation is its dictionary, concatenated in its own order."""

    rewarded = True

    def __init__(self, name: str, domain: str, task: str):
        self.name, self._which = name, (domain, task)
        # Reseeded by every reset: what happened before cannot matter.
        self._random = np.random.RandomState()
        self._env = _load(domain, task, self._random)
        limit = self._env._step_limit  # a float: the first whole step at or past it is the last
        if math.isinf(limit):
            raise SfmError(f"task '{name}' has no time limit, so its episodes never end; choose another.")
        self.max_steps = math.ceil(limit)
        self.control_timestep = self._env.control_timestep()
        self.obs_dim = sum(math.prod(part.shape) for part in self._env.observation_spec().values())
        self._substeps = substeps = round(self.control_timestep / self.physics.timestep())
        from sfm.envs.dmc import mujoco_step  # after `_suite`, which imports dm_control without OpenGL

        self._unstable = mujoco_step.PhysicsError
        self.terminates = type(self._env.task).get_termination is not mujoco_step.Task.get_termination
        bare = mujoco_step.advance(domain, task, self.physics, substeps)
        self._advance = bare or self._plain
        self.parallel = bare is not None and substeps > 1  # one substep is as short as the Python around it
        actuators = self._env.action_spec()
        self.action_dim = actuators.shape[0]
        self._scale = ActionScale(actuators.minimum, actuators.maximum)
        self.low, self.high = self._scale.low, self._scale.high
        # Camera 0 follows the body from the side, except on the quadruped, where it looks from far away.
        self._camera = "y" if domain == "quadruped" else 0
        self._renderer: rendering.Renderer | None = None

    @property
    def physics(self):
        """dm_control's Physics: the simulator, for those who want to look inside."""
        return self._env.physics

    @property
    def obs_signals(self) -> tuple[Signal, ...]:
        return _signals(*self._which)

    @property
    def obs_names(self) -> tuple[str, ...]:
        return tuple(signal.name for signal in self.obs_signals)

    @property
    def action_names(self) -> tuple[str, ...]:
        return mujoco_names.actuators(self.physics.model.ptr)

    @property
    def model(self):
        """mujoco.MjModel."""
        return self.physics.model.ptr

    @property
    def data(self):
        """mujoco.MjData."""
        return self.physics.data.ptr

    def observe(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        qpos, qvel = checked_state(self, qpos, qvel)
        try:
            with self.physics.reset_context():  # all else as at the start of an episode
                self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        except self._unstable as error:
            raise SfmError(f"'{self.name}' cannot be set to that state: {error}") from error
        return _flat(self._env.task.get_observation(self.physics))

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        self._steps = 0
        return self.observe(qpos, qvel)

    def reset(self, seed: int) -> np.ndarray:
        self._random.seed(seed)
        self._steps = 0
        return _flat(self._env.reset().observation)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        try:
            obs, reward, terminated = self._advance(self._scale.to_actuators(action))
        except self._unstable as error:
            raise SfmError(f"the simulation of '{self.name}' broke down: {error}") from error
        self._steps += 1
        return obs, reward, terminated, self._steps >= self.max_steps and not terminated

    def _plain(self, control: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """The step of any task, control [a] to obs, reward, terminated: the suite's, but for its records."""
        task, physics = self._env.task, self.physics
        task.before_step(control, physics)
        physics.step(self._substeps)
        task.after_step(physics)
        reward, obs = float(task.get_reward(physics)), _flat(task.get_observation(physics))
        return obs, reward, task.get_termination(physics) is not None  # it ends with discount 0, or goes on

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        if self._renderer is None or self._renderer.size != (height, width):
            self.close()
            self._renderer = rendering.Renderer(self.physics.model.ptr, self._camera, height, width)
        return self._renderer.render(self.physics.data.ptr)

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


@functools.cache
def _signals(domain: str, task: str) -> tuple[Signal, ...]:
    """Found in a world of its own: playing it a little must not disturb another."""
    return mujoco_names.of_task(_load(domain, task, np.random.RandomState(0)))


def _flat(observation) -> np.ndarray:
    """A dictionary of arrays and scalars to float32 [obs_dim]."""
    return np.concatenate(list(observation.values()), axis=None, dtype=np.float32)


def _load(domain: str, task: str, random: np.random.RandomState):
    """Silently: the suite's cheetah.xml uses an attribute that MuJoCo deprecates, and says so every time."""
    log = logging.getLogger("absl")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        return _suite().load(domain, task, task_kwargs={"random": random})
    finally:
        log.setLevel(level)
