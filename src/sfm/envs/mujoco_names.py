"""What MuJoCo calls the numbers of an observation: joints, bodies, sensors.

Gymnasium's MuJoCo environments say which parts of the state they show. dm_control's tasks only have keys:
there a number is known by being equal, again and again, to one that MuJoCo has a name for.
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sfm.envs.signals import Signal, numbered

ANGLE, LENGTH = "rad", "m"
XYZ = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
TURNS = ("wx", "wy", "wz")
AXES = tuple(a + b for a in XYZ for b in XYZ)
SENSOR_UNITS = {
    "VELOCIMETER": "m/s",
    "ACCELEROMETER": "m/s^2",
    "GYRO": "rad/s",
    "FORCE": "N",
    "TORQUE": "N m",
    "TOUCH": "N",
    "SUBTREELINVEL": "m/s",
    "FRAMEPOS": "m",
}


class Known(NamedTuple):
    """A number of the simulation: what it is called, and when another has that name too."""

    name: str
    longer: str
    unit: str


def positions(model: Any) -> list[Known]:
    """[nq]"""
    return list(_by_joint(model, XYZ, QUATERNION, ""))


def velocities(model: Any) -> list[Known]:
    """[nv]"""
    return list(_by_joint(model, ("vx", "vy", "vz"), TURNS, "/s"))


def _by_joint(model: Any, moves: tuple[str, ...], turns: tuple[str, ...], per: str) -> Iterator[Known]:
    """The numbers of each joint: one, or the parts in which a ball turns and a free body moves, too."""
    for j in range(model.njnt):
        name, kind = model.joint(j).name or f"joint{j}", int(model.jnt_type[j])
        if kind in (2, 3):  # slide, hinge
            yield Known(name, f"{name}.vel" if per else name, (LENGTH if kind == 2 else ANGLE) + per)
            continue
        for part in (*moves, *turns) if kind == 0 else turns:
            unit = LENGTH + per if part in moves else f"{ANGLE}{per}" if per else ""
            yield Known(f"{name}.{part}", f"{name}.{part}", unit)


def of_structure(structure: Mapping[str, int], model: Any) -> tuple[Signal, ...]:
    """The numbers of a Gymnasium MuJoCo environment, by its `observation_structure`."""
    found: list[Signal] = []
    for key, count in structure.items():
        if key in ("qpos", "qvel"):
            known = (positions if key == "qpos" else velocities)(model)
            skipped = len(known) - count
            found += [Signal(f"{key}/{k.name}", k.unit) for k in known[skipped:]]
        elif not key.startswith("skipped"):
            found += [Signal(name) for name in numbered(key, (count,) if count != 1 else ())[:count]]
    return tuple(found)


def _everything(model: Any, data: Any) -> Iterator[tuple[Known, float]]:
    """Numbers with names, the plainest first."""
    yield from zip(positions(model), data.qpos, strict=True)
    for known, angle in zip(positions(model), data.qpos, strict=True):
        if known.unit == ANGLE:
            for of in (np.cos, np.sin):
                name = f"{of.__name__}({known.name})"
                yield Known(name, name, ""), of(angle)
    yield from zip(velocities(model), data.qvel, strict=True)
    for i in range(model.nu):
        if (at := int(model.actuator_actadr[i])) >= 0:
            name = model.actuator(i).name or f"actuator{i}"
            yield Known(name, f"{name}.act", ""), data.act[at]
    yield from _sensors(model, data)
    for i in range(1, model.nbody):
        name = model.body(i).name or f"body{i}"
        for axes, values, unit in ((XYZ, data.xpos[i], LENGTH), (AXES, data.xmat[i], "")):
            for axis, value in zip(axes, values, strict=True):
                yield Known(f"{name}.{axis}", f"{name}.{axis}", unit), value


def _sensors(model: Any, data: Any) -> Iterator[tuple[Known, float]]:
    kinds = importlib.import_module("mujoco").mjtSensor
    for i in range(model.nsensor):
        name, begin, dim = model.sensor(i).name or f"sensor{i}", model.sensor_adr[i], model.sensor_dim[i]
        unit = SENSOR_UNITS.get(kinds(int(model.sensor_type[i])).name.removeprefix("mjSENS_"), "")
        parts = (
            [f".{axis}" for axis in XYZ] if dim == 3 else [""] if dim == 1 else [f"[{k}]" for k in range(dim)]
        )
        for part, value in zip(parts, data.sensordata[begin : begin + dim], strict=True):
            yield Known(f"{name}{part}", f"{name}{part}", unit), value
            for of in (np.arcsinh, np.log1p):
                with np.errstate(invalid="ignore", divide="ignore"):
                    yield Known(f"{name}{part}", f"{name}{part}", f"{of.__name__}({unit})"), of(value)


def of_task(env: Any) -> tuple[Signal, ...]:
    """The numbers of a dm_control environment's observation, in its own order; plays it a little."""
    rng, spec = np.random.default_rng(0), env.action_spec()
    observed: list[dict[str, np.ndarray]] = []
    numbers: list[list[float]] = []
    known: list[Known] = []
    model, data = env.physics.model.ptr, env.physics.data.ptr
    for _ in range(3):
        step = env.reset()
        for _ in range(4):
            step = env.step(rng.uniform(spec.minimum, spec.maximum))
            observed.append({key: np.array(value) for key, value in step.observation.items()})
            pairs = list(_everything(model, data))
            known = [k for k, _ in pairs]
            numbers.append([float(x) for _, x in pairs])
    return tuple(
        signal
        for key, value in observed[0].items()
        for signal in _matched(key, value.shape, np.stack([o[key].ravel() for o in observed]), known, numbers)
    )


def _matched(
    key: str, shape: tuple[int, ...], series: np.ndarray, known: list[Known], numbers: list[list[float]]
) -> Iterator[Signal]:
    """Signals of one key, whose numbers were series [n, k]."""
    all_of_them, taken = np.array(numbers), set()
    for plain, values in zip(numbered(key, shape), series.T, strict=True):
        same = np.flatnonzero((all_of_them == values[:, None]).all(0)) if np.ptp(values) else []
        match = known[same[0]] if len(same) else None
        name = plain
        if match and series.shape[1] > 1:
            name = f"{key}/{match.longer if f'{key}/{match.name}' in taken else match.name}"
            name = plain if name in taken else name
        taken.add(name)
        yield Signal(name, match.unit if match else "")


def actuators(model: Any) -> tuple[str, ...]:
    """[nu], by their own name or that of the joint they move."""
    joints = {i: int(model.actuator_trnid[i, 0]) for i in range(model.nu) if model.actuator_trntype[i] == 0}
    moved = {i: model.joint(j).name for i, j in joints.items()}
    return tuple(model.actuator(i).name or moved.get(i) or f"action[{i}]" for i in range(model.nu))
