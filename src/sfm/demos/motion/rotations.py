"""Rotations of joints with several axes. Quaternions are w, x, y, z, as MuJoCo has them."""

import numpy as np

_STEPS, _DAMPING = 30, 1e-4


def from_exponential(maps: np.ndarray) -> np.ndarray:
    """Axis times angle [..., 3] to unit quaternions [..., 4]."""
    angle = np.linalg.norm(maps, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), maps * np.sinc(angle / (2 * np.pi)) / 2], -1)


def unit(quaternions: np.ndarray) -> np.ndarray:
    """Unit quaternions [T, 4] of which neighbours are near each other: q and -q are the same rotation."""
    quaternions = quaternions / np.maximum(np.linalg.norm(quaternions, axis=-1, keepdims=True), 1e-12)
    turns = np.sign((quaternions[1:] * quaternions[:-1]).sum(-1))
    signs = np.cumprod(np.concatenate([[1.0], np.where(turns < 0, -1.0, 1.0)]))
    return quaternions * signs[:, None]


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Unit quaternions [..., 4] to rotation matrices [..., 3, 3]."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def roll_pitch_yaw(quaternions: np.ndarray) -> np.ndarray:
    """[T, 4] to angles about x, y and z [T, 3], applied in this order about fixed axes."""
    m = matrices(quaternions)
    roll = np.arctan2(m[..., 2, 1], m[..., 2, 2])
    pitch = np.arcsin(np.clip(-m[..., 2, 0], -1, 1))
    return np.unwrap(np.stack([roll, pitch, np.arctan2(m[..., 1, 0], m[..., 0, 0])], -1), axis=0)


class Rotation:
    """Unit quaternions [T, 4] that expressions multiply (first the right one turns) and divide."""

    __array_ufunc__ = None  # NumPy's numbers leave the arithmetic to this class

    def __init__(self, quaternions: np.ndarray):
        self.quaternions = quaternions

    def __mul__(self, other: object) -> "Rotation":
        if not isinstance(other, Rotation):
            return NotImplemented
        a, b = self.quaternions, other.quaternions
        aw, av, bw, bv = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
        w = aw * bw - (av * bv).sum(-1, keepdims=True)
        return Rotation(np.concatenate([w, aw * bv + bw * av + np.cross(av, bv)], -1))

    def __truediv__(self, other: object) -> "Rotation":
        return self * other.inverse() if isinstance(other, Rotation) else NotImplemented

    def __rtruediv__(self, other: object) -> "Rotation":
        return self.inverse() if isinstance(other, float) and other == 1 else NotImplemented

    def inverse(self) -> "Rotation":
        return Rotation(self.quaternions * [1, -1, -1, -1])


def hinge_angles(axes: np.ndarray, target: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Angles [T, k] of hinges about axes [k, 3], in this order, that turn `shown` most nearly to `target`.

    These are columns, [3, m] and [T, 3, m]: the unit matrix for a whole rotation, one column for the
    direction of a limb.
    """
    angles, found = np.zeros(len(axes)), np.zeros((len(target), len(axes)))
    for t, wanted in enumerate(target):
        for _ in range(_STEPS):
            turned, slopes = _turned(axes, angles, shown)
            error = (wanted - turned).ravel()
            jacobian = slopes.reshape(len(axes), -1).T
            step = np.linalg.solve(jacobian.T @ jacobian + _DAMPING * np.eye(len(axes)), jacobian.T @ error)
            angles = angles + np.clip(step, -0.5, 0.5)
            if np.abs(step).max() < 1e-7:
                break
        angles = (angles + np.pi) % (2 * np.pi) - np.pi
        found[t] = angles
    return np.unwrap(found, axis=0)


def _turned(axes: np.ndarray, angles: np.ndarray, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R_1 ... R_k shown, [3, m], and its derivatives by each angle [k, 3, m]."""
    parts = matrices(from_exponential(axes * angles[:, None]))
    crosses = np.cross(np.eye(3)[None], axes[:, None])  # the matrices of v -> a x v
    slopes = []
    for i in range(-1, len(axes)):
        product = np.eye(3)
        for k, part in enumerate(parts):
            product = product @ (crosses[k] @ part if k == i else part)
        slopes.append(product @ shown)
    return slopes[0], np.array(slopes[1:])
