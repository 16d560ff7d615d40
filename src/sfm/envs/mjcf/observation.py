"""What is observed of a MuJoCo model, by name, and so that place and heading do not matter.

A robot that travels (a free joint, or slides and a hinge of its own, as planar models have) is seen from
itself: x, y and heading are left out, its orientation is the direction of gravity in its body, and velocities
are in the frame of its heading. The heading is the turn about the vertical that is left of its rotation away
from the pose of the model, which flips no sign while it leans or somersaults. What never changes, as a
sideways velocity of a planar walker, is left out too.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfm.envs.mjcf.files import mujoco
from sfm.envs.signals import Signal

UNITS = {"x": "m", "y": "m", "height": "m", "velocity": "m/s", "turning": "rad/s"}
PLACE = ("x", "y")
TRAVEL = (
    *("height", "gravity_x", "gravity_y", "gravity_z"),
    *(f"{kind}_{axis}" for kind in ("velocity", "turning") for axis in "xyz"),
)
FREE, BALL, SLIDE, HINGE = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("FREE", "BALL", "SLIDE", "HINGE")
)


class Observation:
    """Reads data of one model, whose positions, velocities and sensors have been computed.

    signals: what it reads. beyond: the names among them that positions and velocities do not tell.
    root: the body of the robot that travels, or None where it stands fixed.
    """

    def __init__(self, model: Any, sensors: bool = False):
        self.model = model
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        travellers = [b for b in range(1, model.nbody) if _travels(model, b)]
        driven = _driven(model, data)
        moved = [b for b in travellers if b in driven]
        fixed = bool(driven) and not moved
        self.root = None if fixed else next(iter([*moved, *travellers]), None)
        self._upright = data.xquat.copy()  # the rotations from which headings are counted
        joints = [j for j in range(model.njnt) if model.jnt_bodyid[j] not in travellers]
        self._parts: list[Callable[[Any], Any]] = []
        found: list[Signal] = []
        for body in sorted(travellers, key=lambda b: b != self.root):
            found += self._add_traveller(body, data)
        found += self._add_positions(joints) + self._add_velocities(joints)
        told = len(found)
        found += [Signal(f"{_name(model.actuator(i), 'actuator')}.activation") for i in _active(model)]
        if model.na:
            self._parts.append(lambda d: d.act)
        if sensors and model.nsensordata:
            found += map(Signal, _sensor_names(model))
            self._parts.append(lambda d: d.sensordata)
        self.signals, self.beyond = tuple(found), tuple(signal.name for signal in found[told:])

    def __call__(self, data: Any) -> np.ndarray:
        """float32 [len(signals)], new."""
        return np.concatenate([part(data) for part in self._parts], axis=None, dtype=np.float32)

    def _add_traveller(self, body: int, data: Any) -> list[Signal]:
        """The robot's root, or another body that is free, whose place is then told relative to the root."""
        place = () if body == self.root else PLACE
        kept = self._varying(body, data)
        self._parts.append(lambda d: self._travel(d, body)[kept])
        name = _name(self.model.body(body), "body")
        parts = [part for part, keep in zip((*place, *TRAVEL), kept, strict=True) if keep]
        return [_bounded(f"{name}.{part}", UNITS.get(part.partition("_")[0])) for part in parts]

    def _travel(self, data: Any, body: int) -> np.ndarray:
        """`TRAVEL` of a body, after its `PLACE` seen from the root if it is another; [10] or [12]."""
        viewer = self.root or 0  # a fixed robot sees from where the world is
        cos, sin = _heading(data.xquat[viewer], self._upright[viewer])
        turn = np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
        velocity = np.empty(6)
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
        position, gravity = data.xpos[body], -data.xmat[body, 6:]
        seen = (turn @ (position - data.xpos[viewer]))[:2] if body != self.root else position[:0]
        return np.concatenate([seen, position[2:], gravity, turn @ velocity[3:], turn @ velocity[:3]])

    def _varying(self, body: int, data: Any) -> np.ndarray:
        """Which of `_travel` change, when all that moves is moved at random; bool."""
        model, rng, rows = self.model, np.random.default_rng(0), []
        for _ in range(16):
            mujoco.mj_resetData(model, data)
            mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
            data.qvel[:] = rng.normal(size=model.nv)
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            rows.append(self._travel(data, body))
        return np.ptp(rows, axis=0) > 1e-9

    def _add_positions(self, joints: list[int]) -> list[Signal]:
        model, found = self.model, []
        kinds, address = model.jnt_type, model.jnt_qposadr
        turning = [j for j in joints if kinds[j] == HINGE and not model.jnt_limited[j]]
        plain = [j for j in joints if kinds[j] in (HINGE, SLIDE) and j not in turning]
        if plain:
            self._parts.append(lambda d, at=address[plain]: d.qpos[at])
            for j in plain:
                reach = map(float, model.jnt_range[j]) if model.jnt_limited[j] else ()
                unit = "m" if kinds[j] == SLIDE else "rad"
                found.append(Signal(_name(model.joint(j), "joint"), unit, *reach))
        for part, function in (("sin", np.sin), ("cos", np.cos)) if turning else ():
            self._parts.append(lambda d, f=function, at=address[turning]: f(d.qpos[at]))
            found += [_bounded(f"{_name(model.joint(j), 'joint')}.{part}") for j in turning]
        for j in (j for j in joints if kinds[j] == BALL):
            self._parts.append(lambda d, at=address[j]: _two_axes(d.qpos[at : at + 4]))
            axes = [f"{a}{b}" for a in "xyz" for b in "xy"]
            found += [_bounded(f"{_name(model.joint(j), 'joint')}.{axis}") for axis in axes]
        return found

    def _add_velocities(self, joints: list[int]) -> list[Signal]:
        dofs, found, kinds = [], [], self.model.jnt_type
        for j in joints:
            axes = [f"_{axis}" for axis in "xyz"] if kinds[j] == BALL else [""]
            dofs += [self.model.jnt_dofadr[j] + k for k in range(len(axes))]
            name, unit = _name(self.model.joint(j), "joint"), "m/s" if kinds[j] == SLIDE else "rad/s"
            found += [Signal(f"{name}.velocity{axis}", unit) for axis in axes]
        if dofs:
            self._parts.append(lambda d: d.qvel[dofs])
        return found


def _travels(model: Any, body: int) -> bool:
    """Whether the world's joints let a body go anywhere: by a free joint, or slides with a hinge."""
    first = model.body_jntadr[body]
    kinds = model.jnt_type[first : first + model.body_jntnum[body]].tolist()
    return model.body_parentid[body] == 0 and (FREE in kinds or (kinds.count(SLIDE) >= 2 and HINGE in kinds))


def _driven(model: Any, data: Any) -> set[int]:
    """The bodies of the world in whose trees an actuator acts on something."""
    dofs = data.moment_colind[: data.moment_rownnz.sum()]
    return set(model.body_rootid[model.dof_bodyid[dofs]].tolist())


def _heading(rotation: np.ndarray, upright: np.ndarray) -> tuple[float, float]:
    """Cosine and sine of the turn about the vertical in a rotation away from `upright`; quaternions."""
    # of rotation * conj(upright), the components 1 and k
    w = float(rotation @ upright)
    (a, b, c, d), (p, q, r, s) = rotation.tolist(), upright.tolist()
    z = d * p - a * s - b * r + c * q
    length = w * w + z * z
    if length < 1e-12:  # upside down, where there is no telling
        return 1.0, 0.0
    return (w * w - z * z) / length, 2 * w * z / length


def _two_axes(quaternion: np.ndarray) -> np.ndarray:
    """The first two columns of a rotation, row by row, [6]: they do not jump as a quaternion's sign does."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)[:, :2]


def _bounded(name: str, unit: str | None = None) -> Signal:
    """Without a unit it is a cosine or sine."""
    return Signal(name, unit) if unit else Signal(name, "", -1.0, 1.0)


def _name(part: Any, kind: str) -> str:
    return part.name or f"{kind}{part.id}"


def _active(model: Any) -> list[int]:
    """The actuator of each activation."""
    return [i for i in range(model.nu) for _ in range(max(int(model.actuator_actnum[i]), 0))]


def _sensor_names(model: Any) -> list[str]:
    names = []
    for i in range(model.nsensor):
        name, size = _name(model.sensor(i), "sensor"), int(model.sensor_dim[i])
        names += [name] if size == 1 else [f"{name}_{k}" for k in range(size)]
    return names
