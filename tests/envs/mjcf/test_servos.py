"""Servos fitted to a robot's masses hold it up, follow, and do not shake."""

import numpy as np

from tests.envs.mjcf.models import ARM, PLANAR, made


def test_a_servo_for_each_joint_with_limits_and_nothing_else(tmp_path):
    env = made(tmp_path, PLANAR, actuators="pd", sensors=True)
    assert env.action_names == ("hip",)  # not the root, which has no limits, and not the motor that was there
    np.testing.assert_allclose([env.low[0], env.high[0]], [-np.pi / 3, np.pi / 3])
    assert "force" not in env.obs_names  # what measured the motor went with it
    assert "foot" in env.obs_names


def test_a_servo_holds_its_limb_out_against_gravity(tmp_path):
    """Both joints at 0, where the arm is horizontal: it sags by at most half a servo's reach."""
    env = made(tmp_path, ARM, actuators="pd")
    env.set_state(np.zeros(2), np.zeros(2))
    for _ in range(200):
        env.step(np.zeros(2))
    assert 0 < np.abs(env.data.qpos).max() < 0.26
    assert np.abs(env.data.qvel).max() < 1e-3


def test_gains_grow_with_masses(tmp_path):
    light = made(tmp_path, ARM, actuators="pd").model
    heavy = made(tmp_path, ARM.replace('mass="3"', 'mass="30"'), actuators="pd").model
    gains = heavy.actuator_gainprm[:, 0] / light.actuator_gainprm[:, 0]
    assert 5 < gains[0] < 10
    np.testing.assert_allclose(gains[1], 1)
    assert light.actuator_gainprm[0, 0] > 5 * light.actuator_gainprm[1, 0]
    np.testing.assert_allclose(light.actuator_forcerange[:, 1], 0.5 * light.actuator_gainprm[:, 0])


def test_a_leg_that_stands_must_carry_what_is_above_it(tmp_path):
    """The hip of a robot on its leg, and of the same robot hung up by the leg's other end."""
    model = made(tmp_path, PLANAR, actuators="pd").model
    torso = model.body_subtreemass[1] - model.body_subtreemass[2]
    carried = 9.81 * torso * 0.5 * 0.4  # on a lever of half the way to the middle of the leg
    assert model.actuator_gainprm[0, 0] >= 2 * carried / 0.5 * 0.999


def test_servos_do_not_shake_under_wild_targets(tmp_path):
    env, rng = made(tmp_path, ARM, actuators="pd"), np.random.default_rng(0)
    env.reset(0)
    for _ in range(300):
        env.step(rng.uniform(-1, 1, 2))  # it raises if the simulation breaks down
    env.step(np.zeros(2))
    for _ in range(100):
        env.step(np.zeros(2))
    assert np.abs(env.data.qvel).max() < 1e-2
