"""Environments from MJCF files: MuJoCo's own steps, starts, ends, and what is said of bad files."""

import mujoco
import numpy as np
import pytest

from sfm.envs import make
from sfm.envs.base import Motion
from sfm.envs.mjcf import MjcfEnv, pack
from sfm.errors import SfmError
from tests.envs.mjcf.models import ARM, FREE, PLANAR, made, meshed, written

MOTION = Motion(np.array([[k, 0.1 * k, 0.0, 0.02 * k] for k in range(5)]), np.ones((5, 4)))


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_a_step_is_that_of_mujoco(integrator, tmp_path):
    env = made(tmp_path, PLANAR, option=f'integrator="{integrator}"', control_hz=50.0)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    env.set_state(model.qpos0, np.zeros(4))
    for _ in range(20):
        action = rng.uniform(-1, 1, 1)
        obs, reward, terminated, truncated = env.step(action)
        data.ctrl[:] = -0.5 + 1.5 * action  # from [-1, 1] to [-2, 1]
        mujoco.mj_step(model, data, 4)
    np.testing.assert_allclose(env.data.qpos, data.qpos, atol=1e-9)
    np.testing.assert_allclose(env.observe(data.qpos.copy(), data.qvel.copy()), obs, atol=1e-6)
    assert (reward, terminated, truncated, env.rewarded) == (0.0, False, False, False)
    assert (env.control_timestep, env.max_steps, env.low[0], env.high[0]) == (0.02, 500, -2, 1)


def test_an_episode_starts_where_its_seed_says_in_a_state_of_the_motion(tmp_path):
    env = made(tmp_path, PLANAR, MOTION, start_noise=0.0)
    heights = {round(float(env.reset(seed)[0]), 3) for seed in range(30)}
    assert heights == {1.0, 1.1, 1.2, 1.3, 1.4}
    assert env.reset(7)[-1] == 1  # the velocity of the hip
    noisy = made(tmp_path, PLANAR, MOTION, start_noise=0.1)
    np.testing.assert_array_equal(noisy.reset(3), noisy.reset(3))
    hips = [noisy.reset(seed)[6] - 0.02 * round(10 * (noisy.data.qpos[1])) for seed in range(200)]
    assert 0.08 < np.std(hips) < 0.12
    assert {round(float(noisy.reset(seed)[0]), 3) for seed in range(30)} == heights  # the root has no noise


def test_an_episode_starts_in_a_keyframe_or_as_the_model_is_built(tmp_path):
    assert made(tmp_path, PLANAR, start_noise=0.0).reset(0)[6] == 0.5
    assert made(tmp_path, PLANAR, start_noise=0.0, starts="model").reset(0)[6] == 0
    assert made(tmp_path, FREE, start_noise=0.0).reset(0)[0] == 1


def test_an_episode_ends_with_its_time_or_with_a_fall(tmp_path):
    env = made(tmp_path, PLANAR, seconds=0.1)
    env.reset(0)
    assert [env.step(np.zeros(1))[2:] for _ in range(5)] == [(False, False)] * 4 + [(False, True)]
    env = made(tmp_path, PLANAR, MOTION, fall=0.9)
    assert env.terminates
    still = np.zeros(4)
    env.set_state(np.array([0, -0.05, 0, 0]), still)  # 0.95 is above 0.9 of the motion's least height, 1
    assert not env.step(np.zeros(1))[2]
    env.set_state(np.array([0, -0.15, 0, 0]), still)
    assert env.step(np.zeros(1))[2:] == (True, False)


def test_a_packed_robot_needs_no_other_file(tmp_path):
    original = MjcfEnv(meshed(tmp_path / "original"))
    packed = tmp_path / "robot.zip"
    packed.write_bytes(pack(tmp_path / "original" / "robot.xml"))
    for file in (tmp_path / "original").rglob("*.*"):
        file.unlink()
    again = make(str(packed))
    assert again.model.nmeshvert == original.model.nmeshvert == 4
    np.testing.assert_array_equal(again.reset(1), original.reset(1))
    np.testing.assert_array_equal(again.step(np.ones(1))[0], original.step(np.ones(1))[0])


def test_a_servo_or_motor_without_bounds_takes_those_of_its_joint(tmp_path):
    servo = PLANAR.replace(
        '<motor name="push" joint="hip" gear="20" ctrlrange="-2 1"/>',
        '<position name="push" joint="hip" kp="9"/>',
    )
    assert made(tmp_path, servo).high == pytest.approx(np.pi / 3)


@pytest.mark.parametrize(
    ("text", "config", "message"),
    [
        ("hello", {}, "MuJoCo cannot load .*robot.xml: XML"),
        ("<mujoco><worldbody><joint type='x'/></worldbody></mujoco>", {}, "cannot load .*; Element 'joint'"),
        ('<mujoco><asset><mesh file="no.obj"/></asset></mujoco>', {}, "no.obj"),
        (ARM, {}, "has no actuators: --actuators pd"),
        (FREE, {"actuators": "pd"}, "has no joint with limits for a servo"),
        (PLANAR.replace('ctrlrange="-2 1"', ""), {}, "'push' of .* has no ctrlrange"),
        (PLANAR, {"control_hz": 150.0}, "not 150: choose --control-hz 200"),
        (PLANAR, {"starts": "clip"}, "robot.starts is clip, but the demonstrations have no motion"),
        (FREE, {"starts": "keyframe"}, "has no keyframe"),
        (PLANAR, {"fall": 0.5}, "robot.fall does not work .* no motion"),
    ],
)
def test_what_does_not_work_is_told_in_a_line(text, config, message, tmp_path):
    with pytest.raises(SfmError, match=message) as error:
        made(tmp_path, text, **config)
    assert "\n" not in str(error.value)


def test_a_motion_of_another_model_and_a_missing_file_are_told(tmp_path):
    with pytest.raises(SfmError, match=r"qpos has 4 numbers per state, .* has 19: they are of another model"):
        made(tmp_path, FREE, MOTION)
    with pytest.raises(SfmError, match=r"no MJCF file .*none\.xml"):
        make(str(tmp_path / "none.xml"))
    env = MjcfEnv(written(tmp_path, PLANAR))
    with pytest.raises(SfmError, match="has qpos of 4 numbers"):
        env.observe(np.zeros(5), np.zeros(4))


def test_a_simulation_that_breaks_down_is_told(tmp_path):
    env = made(tmp_path, PLANAR)
    env.set_state(np.zeros(4), np.array([0, 0, 1e12, 0]))
    with pytest.raises(SfmError, match=r"broke down .* smaller timestep"):
        env.step(np.zeros(1))
