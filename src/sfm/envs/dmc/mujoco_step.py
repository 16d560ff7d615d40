"""The ten tasks on bare MuJoCo: dm_control's numbers, without its dictionaries and its indexing by name.

A body turns MuJoCo's data into `observe`, which gives a new observation in dm_control's order, and one
`reward` per task, both read from views that are made once. `advance` steps the data and calls them.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from dm_control.rl.control import PhysicsError, Task  # noqa: F401

mujoco: Any = importlib.import_module("mujoco")  # its functions are unknown to type checkers

WALK_SPEED = 2.0  # m/s
SPIN = 5.0  # kg m^2/s
JUMP_HEIGHT = 1.0  # m, of the centre of mass

Advance = Callable[[np.ndarray], tuple[np.ndarray, float, bool]]  # control [a] -> obs [o], reward, terminated
Body = tuple[Callable[[], np.ndarray], dict[str, Callable[[], float]]]  # observe, rewards by task


def clip01(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def cheetah(data) -> Body:
    """Observation [17]: positions without x [8], velocities [9]."""
    parts = data.qpos[1:], data.qvel
    velocity = data.sensor("torso_subtreelinvel").data  # of the centre of mass

    def faster(target: float) -> Callable[[], float]:
        return lambda: clip01(velocity.item(0) / target)

    return _joined(parts), {"run": faster(10.0), "walk": faster(WALK_SPEED)}


def walker(data) -> Body:
    """Observation [24]: xx and xz of the orientation of seven bodies [14], height [1], velocities [9]."""
    torso = data.body("torso")  # its momentum is computed along with its velocity, which has a sensor
    position, orientation, momentum = torso.xpos, torso.xmat, torso.subtree_angmom
    velocity = data.sensor("torso_subtreelinvel").data  # of the centre of mass
    parts = data.xmat[1:, 0:3:2], position[2:], data.qvel

    def stand() -> float:
        height = position.item(2)
        standing = 1.0 if height >= 1.2 else 0.1 ** (((1.2 - height) / 0.6) ** 2)
        upright = (1 + orientation.item(8)) / 2
        return (3 * standing + upright) / 4

    def stand_and(vector: np.ndarray, axis: int, target: float) -> Callable[[], float]:
        return lambda: stand() * (5 * clip01(vector.item(axis) / target) + 1) / 6

    return _joined(parts), {
        "stand": stand,
        "walk": stand_and(velocity, 0, 1.0),
        "run": stand_and(velocity, 0, 8.0),
        "flip": stand_and(momentum, 1, SPIN),
    }


def quadruped(data) -> Body:
    """Observation [78]: hinge positions [16] and velocities [16], activations [12], torso velocity [3],
    upright [1], accelerometer and gyroscope [6], arcsinh of the forces and torques at the toes [24].
    """
    torso = data.body("torso")
    orientation, centre = torso.xmat, torso.subtree_com
    velocity = data.sensor("velocimeter").data  # in the frame of the torso
    imu, toes = data.sensordata[:6], data.sensordata[9:33]  # in the order of quadruped.xml
    toes_scaled = np.empty(24)
    join = _joined((data.qpos[7:], data.qvel[6:], data.act, velocity, orientation[8:], imu, toes_scaled))

    def observe() -> np.ndarray:
        np.arcsinh(toes, out=toes_scaled)
        return join()

    def upright() -> float:
        return (1 + orientation.item(8)) / 2

    def upright_and(vector: np.ndarray, axis: int, target: float) -> Callable[[], float]:
        # The second factor is 1 from `target` on, 1/2 at rest, 0 from -`target` down.
        return lambda: upright() * clip01(0.5 + 0.5 * vector.item(axis) / target)

    return observe, {
        "stand": upright,
        "walk": upright_and(velocity, 0, 0.5),
        "run": upright_and(velocity, 0, 5.0),
        "jump": upright_and(centre, 2, JUMP_HEIGHT),
    }


BODIES = {"cheetah": cheetah, "walker": walker, "quadruped": quadruped}


def advance(domain: str, task: str, physics, substeps: int) -> Advance | None:
    """The step of one of the ten tasks, which leaves `physics` as dm_control would; None for other tasks."""
    model, data = physics.model.ptr, physics.data.ptr
    if domain not in BODIES:
        return None
    observe, rewards = BODIES[domain](data)
    if (reward := rewards.get(task)) is None:
        return None
    ctrl, warnings = data.ctrl, data.warning.number

    def step(control: np.ndarray) -> tuple[np.ndarray, float, bool]:
        before = warnings.tolist()
        ctrl[:] = control
        # Half a step first and half a step last: positions and velocities arrive with all that follows
        # from them. This is how dm_control steps a model that is not integrated by RK4.
        mujoco.mj_step2(model, data)
        if substeps > 1:
            mujoco.mj_step(model, data, substeps - 1)
        mujoco.mj_step1(model, data)
        if (after := warnings.tolist()) != before:
            counts = zip(mujoco.mjtWarning.__members__, before, after, strict=False)
            if names := [name for name, then, now in counts if now > then]:
                raise PhysicsError(f"Physics state is invalid. Warning(s) raised: {', '.join(names)}")
        return observe(), reward(), False

    return step


def _joined(parts: tuple[np.ndarray, ...]) -> Callable[[], np.ndarray]:
    """What the views hold when called, as a new float32 vector."""
    return lambda: np.concatenate(parts, axis=None, dtype=np.float32)
