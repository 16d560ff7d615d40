"""Position servos for a robot without actuators of its own, or in place of those it has.

Gains follow from masses and lengths. A joint that carries a limb must hold it out against gravity; one of a
limb on which the robot stands must hold up the rest, on a lever of half the limb. A servo gives `MARGIN`
times that torque `REACH` radians from its target, and can swing its limb `PACE` times a second at least.
"""

from typing import Any

import numpy as np

from sfm.envs.mjcf.files import compiled, mujoco
from sfm.envs.mjcf.observation import HINGE, SLIDE
from sfm.errors import SfmError

MARGIN = 2.0
REACH = 0.5  # radians, or metres of a slide
PACE = 3.0
GRAVITY = 9.81  # also where the model has none
GROUND = 0.15  # limbs whose lowest point is within this share of the robot's height stand on the ground
STABLE = 0.3  # radians that a servo may turn in its own oscillation per time step


def fit(spec: Any, path: Any) -> None:
    """Replace the actuators of `spec` by servos, one for each joint with limits."""
    model = compiled(spec, path)  # its ids are those of `joint.id`
    joints = sorted((j for j in spec.joints if _served(model, j.id)), key=lambda j: j.id)
    if not joints:
        raise SfmError(f"{path} has no joint with limits for a servo: give joints a range in the file")
    loads, (locked, loose) = _loads(model), _inertias(model)
    for sensor in list(spec.sensors):
        if sensor.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR:
            spec.delete(sensor)
    for key in list(spec.keys):
        key.ctrl, key.act = [], []
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for joint in joints:
        joint.name = joint.name or f"joint{joint.id}"
        j = joint.id
        _serve(spec, joint, model.jnt_range[j], *(float(of[j]) for of in (loads, locked, loose)))
    if spec.option.integrator == int(mujoco.mjtIntegrator.mjINT_EULER):  # which knows no damping of actuators
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def _served(model: Any, joint: int) -> bool:
    return bool(model.jnt_type[joint] in (HINGE, SLIDE) and model.jnt_limited[joint])


def _serve(spec: Any, joint: Any, limits: np.ndarray, load: float, locked: float, loose: float) -> None:
    stiffness = max(MARGIN * load / REACH, locked * (2 * np.pi * PACE) ** 2)
    needed = stiffness * (spec.option.timestep / STABLE) ** 2  # so that a light limb does not shake
    joint.armature += max(needed - loose, 0.0)
    damping = 2 * np.sqrt(stiffness * max(locked, needed))  # critical
    actuator = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=stiffness, kv=damping)
    actuator.ctrllimited = actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
    actuator.ctrlrange = limits
    actuator.forcerange = np.array([-1, 1]) * stiffness * REACH


def _inertias(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Of what hangs on a joint, about its axis, with all other joints locked and with all loose; [njnt]."""
    data, dense = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, dense)
    locked, loose = np.diag(dense), 1 / np.diag(np.linalg.inv(dense))
    return locked[model.jnt_dofadr], loose[model.jnt_dofadr]


def _loads(model: Any) -> np.ndarray:
    """Torques that hold up what hangs on each joint or stands on it, [njnt]."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    own = [g for g in range(model.ngeom) if model.geom_bodyid[g]]
    low = np.array([data.geom_xpos[g][2] - model.geom_rbound[g] for g in own])
    high = np.array([data.geom_xpos[g][2] + model.geom_rbound[g] for g in own])
    ground = low.min(initial=np.inf) + GROUND * (high.max(initial=-np.inf) - low.min(initial=np.inf))
    loads = np.zeros(model.njnt)
    for j in range(model.njnt):
        body, anchor = model.jnt_bodyid[j], data.xanchor[j]
        root = model.body_rootid[body]
        limb = [k for k, g in enumerate(own) if _hangs(model, model.geom_bodyid[g], body)]
        slides = model.jnt_type[j] == SLIDE
        mass, centre = model.body_subtreemass[body], data.subtree_com[body]
        loads[j] = mass * (1.0 if slides else float(np.linalg.norm(centre - anchor)))
        moves = model.body_dofnum[root] > 0 and body != root
        if moves and limb and min(low[k] for k in limb) < ground:
            reach = max(float(np.linalg.norm(data.geom_xpos[own[k]] - anchor)) for k in limb)
            rest = model.body_subtreemass[root] - mass
            loads[j] = max(loads[j], rest * (1.0 if slides else 0.5 * reach))
    return GRAVITY * loads


def _hangs(model: Any, body: int, above: int) -> bool:
    """Whether `body` is `above` or hangs on it."""
    while body > above:  # parents come first
        body = model.body_parentid[body]
    return bool(body == above)
