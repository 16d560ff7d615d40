"""Rotations against MuJoCo's own."""

import mujoco
import numpy as np
import pytest

from sfm.demos.motion import rotations
from sfm.demos.motion.rotations import Rotation

RNG = np.random.default_rng(0)
SOME = rotations.unit(RNG.standard_normal((5, 4)))


def test_exponential_maps_and_matrices_are_mujocos():
    for vector in (*RNG.normal(0, 2, (5, 3)), np.zeros(3)):
        quaternion, matrix = np.zeros(4), np.zeros(9)
        angle = np.linalg.norm(vector)
        mujoco.mju_axisAngle2Quat(quaternion, vector / max(angle, 1e-9), angle)
        mujoco.mju_quat2Mat(matrix, quaternion)
        found = rotations.from_exponential(vector)
        np.testing.assert_allclose(found, quaternion, atol=1e-12)
        np.testing.assert_allclose(rotations.matrices(found), matrix.reshape(3, 3), atol=1e-12)


def test_products_and_inverses_are_those_of_matrices():
    a, b = Rotation(SOME), Rotation(SOME[::-1])
    m = rotations.matrices
    np.testing.assert_allclose(m((a * b).quaternions), m(SOME) @ m(SOME[::-1]), atol=1e-12)
    np.testing.assert_allclose(m((a / b * b).quaternions), m(SOME), atol=1e-12)
    np.testing.assert_allclose(m((np.float64(1) / a).quaternions), m(SOME).swapaxes(1, 2), atol=1e-12)
    for wrong in (lambda: a * 2, lambda: 2 / a, lambda: np.float64(2) * a, lambda: a + b):
        with pytest.raises(TypeError):
            wrong()


def test_neighbouring_quaternions_have_the_same_sign():
    steps = rotations.from_exponential(np.linspace(0, 1, 6)[:, None] * [0, 0, 1])
    flipped = 3 * steps * [[1], [-1], [-1], [1], [-1], [1]]
    np.testing.assert_allclose(rotations.unit(flipped), steps, atol=1e-12)


def test_roll_pitch_and_yaw():
    roll, pitch, yaw = (rotations.from_exponential(a * np.array([v])) for a, v in zip(
        (0.3, -0.4, 2.0), np.eye(3), strict=True
    ))  # fmt: skip
    turned = Rotation(yaw) * Rotation(pitch) * Rotation(roll)
    np.testing.assert_allclose(rotations.roll_pitch_yaw(turned.quaternions), [[0.3, -0.4, 2.0]], atol=1e-12)


AXES = np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])


def turned(angles):
    """As MuJoCo turns a body with these hinges, in their order."""
    product = np.eye(3)
    for axis, angle in zip(AXES, angles, strict=False):
        product = product @ rotations.matrices(rotations.from_exponential(axis * angle))
    return product


def test_three_hinges_make_any_rotation():
    angles = np.stack([np.linspace(0, a, 20) for a in (0.8, -1.0, 2.0)], 1)
    target = np.array([turned(a) for a in angles])
    np.testing.assert_allclose(rotations.hinge_angles(AXES, target, np.eye(3)), angles, atol=1e-5)


def test_two_hinges_point_a_limb_where_it_should():
    target = np.array([turned(a) for a in np.stack([np.linspace(0, a, 20) for a in (0.5, 0.3, 0.4)], 1)])
    limb = np.array([[0.0], [0], [-1]])
    angles = rotations.hinge_angles(AXES[[0, 2]], target @ limb, limb)
    found = [
        rotations.matrices(rotations.from_exponential(AXES[0] * a))
        @ rotations.matrices(rotations.from_exponential(AXES[2] * b))
        @ limb
        for a, b in angles
    ]
    np.testing.assert_allclose(found, target @ limb, atol=1e-5)
