"""Where a motion is: its height, its way along the ground, its velocities. States are qpos [N, nq]."""

from typing import Any, Literal

import numpy as np

from sfm.demos.motion.ground import touch
from sfm.demos.motion.joints import Root, mujoco
from sfm.errors import SfmError

Ground = Literal["each", "once", "keep"]
Forward = Literal["contact", "given"]

SMOOTH = 0.125  # seconds over which the speed of the point of contact is averaged
OFF = 0.02  # metres above the ground: not on it


def raise_or_lower(qpos: np.ndarray, model: Any, root: Root, how: Ground, source: str) -> None:
    """Puts the lowest point on the ground, in place: of each state, or once of all."""
    height = touch(model, qpos).height
    if root.z is None:
        return  # neither down nor up
    if how == "keep":
        if height.min() > OFF:
            raise SfmError(
                f"{source} never touches the ground: its lowest point stays {height.min():.2g} m above; "
                "put it there with --ground once or each"
            )
        return
    qpos[:, root.z] -= height if how == "each" else height.min()


def advance(qpos: np.ndarray, model: Any, root: Root, step: float, how: Forward) -> None:
    """The way along the ground from the origin, in place, `step` seconds from state to state."""
    for column in root.along:
        qpos[:, column] = qpos[:, column] - qpos[0, column] if how == "given" else 0.0
    if how == "given" or not root.along:
        return
    slip = touch(model, qpos).slip
    width = 2 * round(SMOOTH / step / 2) + 1
    for slips, column in zip(slip.T, (root.x, root.y), strict=True):
        if column is not None:
            padded = np.pad(-slips, width // 2, mode="edge")
            qpos[1:, column] = np.cumsum(np.convolve(padded, np.ones(width) / width, "valid"))


def velocities(qpos: np.ndarray, model: Any, step: float, reach: int) -> np.ndarray:
    """qvel [N, nv]: mean velocities from `reach` states before to as many after."""
    qvel, last = np.zeros((len(qpos), model.nv)), len(qpos) - 1
    for i in range(len(qpos)):
        low, high = max(0, i - reach), min(last, i + reach)
        mujoco.mj_differentiatePos(model, qvel[i], (high - low) * step, qpos[low], qpos[high])
    return qvel


def normalise(qpos: np.ndarray, model: Any) -> None:
    """Quaternions that were averaged or interpolated, back to unit length; in place."""
    for state in qpos:
        mujoco.mj_normalizeQuat(model, state)
