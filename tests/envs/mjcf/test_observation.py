"""A robot is seen from itself: where it is and which way it faces does not matter, all else does."""

import mujoco
import numpy as np
import pytest

from tests.envs.mjcf.models import ARM, FREE, PLANAR, made, named


def turned(axis: list[float], angle: float) -> np.ndarray:
    quaternion = np.empty(4)
    mujoco.mju_axisAngle2Quat(quaternion, np.array(axis, float), angle)
    return quaternion


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.empty(4)
    mujoco.mju_mulQuat(out, a, b)
    return out


def free_state(env, rng) -> tuple[np.ndarray, np.ndarray]:
    """The ball (7), the trunk (7), the shoulder (4), the wheel; velocities."""
    qpos = env.model.qpos0.copy()
    mujoco.mj_integratePos(env.model, qpos, 0.6 * rng.normal(size=env.model.nv), 1.0)
    return qpos, rng.normal(size=env.model.nv)


def elsewhere(qpos: np.ndarray, qvel: np.ndarray, yaw: float) -> tuple[np.ndarray, np.ndarray]:
    """The same state moved along the ground and turned about the vertical; velocities of free joints are
    those of the world, their turning that of the body."""
    qpos, qvel, turn = qpos.copy(), qvel.copy(), turned([0, 0, 1], yaw)
    spin = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    for at, dof in ((0, 0), (7, 6)):
        qpos[at : at + 3] = spin @ qpos[at : at + 3] + [3.0, -2.0, 0.0]
        qpos[at + 3 : at + 7] = product(turn, qpos[at + 3 : at + 7])
        qvel[dof : dof + 3] = spin @ qvel[dof : dof + 3]
    return qpos, qvel


def test_place_and_heading_do_not_matter_and_height_and_lean_do(tmp_path):
    env, rng = made(tmp_path, FREE), np.random.default_rng(0)
    for yaw in (0.5, -2.0, 3.0):
        qpos, qvel = free_state(env, rng)
        obs = env.observe(qpos, qvel)
        np.testing.assert_allclose(env.observe(*elsewhere(qpos, qvel, yaw)), obs, atol=1e-5)
        for index in (9, 11):  # up, and over
            other = qpos.copy()
            other[index] += 0.3
            assert np.abs(env.observe(other, qvel) - obs).max() > 0.01


def test_velocities_are_those_of_the_heading_also_upside_down(tmp_path):
    """Facing y and moving along y is moving ahead, at any pitch of a somersault."""
    env = made(tmp_path, FREE)
    qpos, qvel = env.model.qpos0.copy(), np.zeros(env.model.nv)
    qvel[6:9] = [0.0, 2.0, 0.5]
    for pitch in (0.0, 1.0, 2.5, 4.0, 6.0):
        qpos[10:14] = product(turned([0, 0, 1], np.pi / 2), turned([0, 1, 0], pitch))
        seen = named(env, env.observe(qpos, qvel))
        told = [seen[f"trunk.velocity_{axis}"] for axis in "xyz"]
        np.testing.assert_allclose(told, [2.0, 0.0, 0.5], atol=1e-6)
        assert seen["trunk.gravity_z"] == pytest.approx(-np.cos(pitch), abs=1e-6)
        assert seen["trunk.gravity_x"] == pytest.approx(np.sin(pitch), abs=1e-6)


def test_turning_is_in_the_frame_of_the_heading(tmp_path):
    """Pitching about its own side axis is turning about y of the heading, whichever way it faces."""
    env = made(tmp_path, FREE)
    qpos, qvel = env.model.qpos0.copy(), np.zeros(env.model.nv)
    qpos[10:14], qvel[10] = turned([0, 0, 1], 1.2), 3.0
    seen = named(env, env.observe(qpos, qvel))
    np.testing.assert_allclose([seen[f"trunk.turning_{a}"] for a in "xyz"], [0, 3, 0], atol=1e-6)


def test_other_things_are_seen_from_the_robot(tmp_path):
    """A ball two metres before a robot that faces y."""
    env = made(tmp_path, FREE)
    qpos = env.model.qpos0.copy()
    qpos[:3], qpos[7:10], qpos[10:14] = [5, 3, 0.2], [5, 1, 1], turned([0, 0, 1], np.pi / 2)
    seen = named(env, env.observe(qpos, np.zeros(env.model.nv)))
    assert (seen["ball.x"], seen["ball.y"]) == (pytest.approx(2), pytest.approx(0, abs=1e-6))
    assert seen["ball.height"] == pytest.approx(0.2)


def test_joints_that_turn_without_end_and_balls_do_not_jump(tmp_path):
    env = made(tmp_path, FREE)
    qpos, still = env.model.qpos0.copy(), np.zeros(env.model.nv)
    qpos[14:18], qpos[18] = turned([0, 1, 0], 0.4), 0.3
    here = env.observe(qpos, still)
    qpos[14:18], qpos[18] = -qpos[14:18], 0.3 + 2 * np.pi
    np.testing.assert_allclose(env.observe(qpos, still), here, atol=1e-6)
    seen = named(env, here)
    assert seen["wheel.sin"] == pytest.approx(np.sin(0.3))
    assert seen["shoulder.xx"] == pytest.approx(np.cos(0.4))
    assert "shoulder.velocity_z" in seen


def test_what_a_planar_robot_cannot_do_is_left_out(tmp_path):
    root = ("height", "gravity_x", "gravity_z", "velocity_x", "velocity_z", "turning_y")
    names = (*(f"torso.{part}" for part in root), "hip", "hip.velocity")
    env = made(tmp_path, PLANAR)
    assert env.obs_names == names
    assert env.beyond_motion == ()
    more = made(tmp_path, PLANAR, sensors=True)
    assert more.obs_names == (*names, "force", "foot")
    assert more.beyond_motion == ("force", "foot")


def test_a_planar_robot_is_seen_at_its_height_pitch_and_speed(tmp_path):
    env = made(tmp_path, PLANAR)
    seen = named(env, env.observe(np.array([7, 0.2, 0.3, 0.1]), np.array([1.5, -0.5, 2.0, 4.0])))
    expected = [1.2, np.sin(0.3), -np.cos(0.3), 1.5, -0.5, 2.0, 0.1, 4.0]
    np.testing.assert_allclose(list(seen.values()), expected, atol=1e-6)


def test_a_robot_that_stands_fixed_is_its_joints(tmp_path):
    env = made(tmp_path, ARM, actuators="pd")
    assert env.obs_names == ("shoulder", "joint1", "shoulder.velocity", "joint1.velocity")
    assert env.root is None
