"""From a clip's names to the positions of a model: expressions, units, limits."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from sfm.demos.motion import expression, rotations
from sfm.demos.motion.clip import Clip
from sfm.demos.motion.joints import BALL, FREE, HINGE, find, mujoco, names
from sfm.demos.motion.mapping import Entry, Mapping
from sfm.demos.motion.rotations import Rotation
from sfm.errors import SfmError

_RADIANS = np.pi + 0.1  # angles that are larger are in degrees, where nothing says what they are in
_TOO_FAR = 2.5 * np.pi  # no joint turns so far
_TOO_NEAR = np.radians(3)  # no motion worth showing stays so small


class Posed(NamedTuple):
    """A clip as positions of a model, [T, nq], and the joints that the clip says nothing of."""

    qpos: np.ndarray
    still: list[str]


def posed(clip: Clip, mapping: Mapping, model: Any, degrees: bool | None) -> Posed:
    """Positions [T, nq] of the model in each frame; what has no entry stays as it is in the model."""
    rest = _rest(model)
    qpos = np.tile(model.qpos0, (clip.frames, 1))
    rotating = {n: e for n, e in mapping.items() if _rotates(e, clip)}
    turning = [n for n in mapping if n not in rotating and find(model, n).type[0] == HINGE]
    degrees = _in_degrees(clip, {n: _number(mapping[n], clip) for n in turning}, degrees)
    for name, entry in mapping.items():
        joint = find(model, name)
        kind, at = int(joint.type[0]), int(joint.qposadr[0])
        if kind in (FREE, BALL):
            if name not in rotating:
                raise SfmError(f"joint '{name}' turns freely: it must follow a rotation of the clip")
            if kind == FREE and clip.root is not None:
                qpos[:, at : at + 3] = clip.root[0] * entry.scale + [0, 0, entry.offset]
            own = Rotation(np.tile(rest.xquat[int(model.jnt_bodyid[joint.id])], (clip.frames, 1)))
            turned = _rotation(entry, clip) * own  # the body at rest, turned
            turned, at = (turned, at + 3) if kind == FREE else (own.inverse() * turned, at)
            qpos[:, at : at + 4] = rotations.unit(turned.quaternions)
        elif name not in rotating:
            value = np.clip(entry.scale * _number(entry, clip) + entry.offset, *entry.clip)
            qpos[:, at] = np.radians(value) if degrees and kind == HINGE else value
    _fit_groups(qpos, rotating, clip, model, rest)
    _check_angles(qpos, [n for n in turning if find(model, n).limited[0]], model, clip.source, degrees)
    return Posed(qpos, [name for name in names(model) if name not in mapping])


def limited(qpos: np.ndarray, model: Any) -> tuple[np.ndarray, dict[str, tuple[float, float]]]:
    """Angles within the hinges' limits; how far beyond each was, and in which share of the states."""
    within, beyond = qpos.copy(), {}
    for i in np.flatnonzero(model.jnt_limited):
        joint = model.joint(i)
        if joint.type[0] == HINGE:
            at = int(joint.qposadr[0])
            within[:, at] = np.clip(qpos[:, at], *joint.range)
            over = np.abs(qpos[:, at] - within[:, at])
            if over.max() > 1e-3:
                beyond[names(model)[i]] = (float(over.max()), float((over > 1e-3).mean()))
    return within, beyond


def _rotates(entry: Entry, clip: Clip) -> bool:
    used = expression.names(entry.expression)
    return bool(used) and used <= set(clip.rotations)


def _number(entry: Entry, clip: Clip) -> np.ndarray:
    if mixed := expression.names(entry.expression) & (set(clip.rotations) - set(clip.channels)):
        raise SfmError(f"'{entry.expression}': {min(mixed)} is a rotation; it is not mixed with numbers")
    value = np.broadcast_to(expression.value(entry.expression, clip.channels), clip.frames)
    if not np.isfinite(value).all():
        raise SfmError(f"'{entry.expression}' is not a number in every frame: is something divided by zero?")
    return value


def _rotation(entry: Entry, clip: Clip) -> Rotation:
    rotating = {name: Rotation(q) for name, q in clip.rotations.items()}
    try:
        value = expression.value(entry.expression, rotating)
    except TypeError:
        value = None
    if not isinstance(value, Rotation):
        raise SfmError(f"'{entry.expression}': rotations are only multiplied and divided (1 / x turns back)")
    return value


def _in_degrees(clip: Clip, angles: dict[str, np.ndarray], degrees: bool | None) -> bool:
    """Whether the clip's angles are in degrees: as asked for, as the file says, or as their size shows."""
    degrees = clip.degrees if degrees is None else degrees
    if degrees is not None or not angles:
        return bool(degrees)
    sizes = {name: float(np.abs(values).max()) for name, values in angles.items()}
    largest = max(sizes, key=lambda name: sizes[name])
    moving = [sizes[name] for name, values in angles.items() if np.ptp(values) > 0]
    small = sum(size <= _RADIANS for size in moving)
    if sizes[largest] > _RADIANS and 2 * small >= len(moving) > 1:
        raise SfmError(
            f"{clip.source}: '{largest}' reaches {sizes[largest]:.0f}, but {small} of {len(moving)} joints "
            f"that move stay within {_RADIANS:.2f}: are units mixed? Say --units, or scale it in a mapping"
        )
    return sizes[largest] > _RADIANS


def _check_angles(qpos: np.ndarray, turning: list[str], model: Any, source: str, degrees: bool) -> None:
    """Refuses what must be in another unit."""
    columns = {name: qpos[:, int(find(model, name).qposadr[0])] for name in turning}
    for name, angles in columns.items():
        if (most := np.abs(angles).max()) > _TOO_FAR:
            told = f"{np.degrees(most):.0f} degrees" if degrees else f"{most:.0f} radians"
            hint = "look at its unit and scale" if degrees else "are the angles in degrees? --units degrees"
            raise SfmError(f"{source}: joint '{name}' reaches {told}, more than a turn: {hint}")
    most = max((np.ptp(angles) for angles in columns.values()), default=0.0)
    if degrees and 0 < most < _TOO_NEAR:
        raise SfmError(
            f"{source}: no joint moves by more than {np.degrees(most):.2g} degrees: are the angles in "
            "radians? --units radians"
        )


def _rest(model: Any) -> Any:
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return data


def _fit_groups(qpos: np.ndarray, rotating: Mapping, clip: Clip, model: Any, rest: Any) -> None:
    """Hinges that follow the same rotation make it together, in their order in the model."""
    hinges = [n for n in rotating if find(model, n).type[0] == HINGE]
    hinges.sort(key=lambda name: (rotating[name].expression, find(model, name).id))
    for text, group in itertools.groupby(hinges, key=lambda name: rotating[name].expression):
        members = list(group)
        entry, ids = rotating[members[0]], [find(model, name).id for name in members]
        target = rotations.matrices(_rotation(entry, clip).quaternions)
        shown = np.eye(3)
        if entry.along is not None:
            shown = _limb(model, rest, int(model.jnt_bodyid[ids[-1]]), text)
            target = target @ np.array(entry.along)[:, None] / np.linalg.norm(entry.along)
        angles = rotations.hinge_angles(rest.xaxis[ids], target, shown)
        qpos[:, model.jnt_qposadr[ids]] = angles


def _limb(model: Any, rest: Any, body: int, text: str) -> np.ndarray:
    """Where a body points in the model's rest, [3, 1]: from its origin to that of the body it carries."""
    children = np.flatnonzero(model.body_parentid == body)
    children = children[children != body]
    if not len(children):
        name = model.body(body).name
        raise SfmError(f"'{text}': body '{name}' carries no other, so it has no direction for 'along'")
    limb = rest.xpos[children[0]] - rest.xpos[body]
    return (limb / np.linalg.norm(limb))[:, None]
