"""The ten tasks: shapes, ends, starts that a seed alone decides, and the order of observations."""

import subprocess
import sys

import numpy as np
import pytest

from sfm.envs import TASKS, make
from sfm.errors import SfmError

SIZES = {"cheetah": (17, 6, 0.01), "walker": (24, 6, 0.025), "quadruped": (78, 12, 0.02)}


def actions(env, steps, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (steps, env.action_dim)).astype(np.float32)


def episode(env, seed, steps=30):
    """Observations and rewards of one episode under fixed actions."""
    start = env.reset(seed)
    return [start, *(np.append(obs, reward) for obs, reward, _, _ in map(env.step, actions(env, steps)))]


@pytest.mark.parametrize("name", TASKS)
def test_an_episode_is_1000_steps_and_only_ever_truncated(name):
    env = make(name)
    assert (env.obs_dim, env.action_dim, env.control_timestep) == SIZES[name.split("_")[0]]
    assert (env.name, env.max_steps) == (name, 1000)
    obs = env.reset(0)
    assert (obs.shape, obs.dtype) == ((env.obs_dim,), np.float32)
    ends = []
    for action in actions(env, 1000):
        obs, reward, terminated, truncated = env.step(action)
        assert 0 <= reward <= 1
        ends.append((terminated, truncated))
    assert (obs.shape, obs.dtype) == ((env.obs_dim,), np.float32)
    assert ends == [(False, False)] * 999 + [(False, True)]


@pytest.mark.parametrize("name", ["cheetah_walk", "walker_flip", "quadruped_jump", "quadruped_run"])
def test_the_seed_alone_determines_an_episode(name):
    env = make(name)
    first, other, again, fresh = episode(env, 3), episode(env, 4), episode(env, 3), episode(make(name), 3)
    for one, two, three in zip(first, again, fresh, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    assert not np.array_equal(first[0], other[0])


def test_observations_are_never_reused():
    env = make("cheetah_run")
    first = env.reset(0)
    kept = first.copy()
    env.step(np.ones(6))
    np.testing.assert_array_equal(first, kept)


def test_actions_beyond_the_range_are_clipped():
    env = make("quadruped_walk")
    ends = []
    for scale in (1, 7):
        env.reset(0)
        ends.append(env.step(scale * np.resize([1.0, -1.0], 12))[0])
    np.testing.assert_array_equal(*ends)


def test_actions_map_to_the_actuators():
    env = make("quadruped_walk")
    env.reset(0)
    for action, leg in ((1, [1, 1.1, 0.8]), (0, [0, 0.05, 0]), (-1, [-1, -1, -0.8])):
        env.step(np.full(12, action))
        np.testing.assert_allclose(env.physics.data.ctrl, np.tile(leg, 4), atol=1e-15)


def test_cheetah_observes_positions_without_x_then_velocities():
    env = make("cheetah_walk")
    env.reset(0)
    obs = env.step(np.ones(6))[0]
    data, joint = env.physics.data, env.physics.model.name2id
    order = ["rootz", "rooty", "bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot"]
    np.testing.assert_array_equal(obs[:8], data.qpos[[joint(j, "joint") for j in order]].astype(np.float32))
    velocities = data.qvel[[joint(j, "joint") for j in ["rootx", *order]]]
    np.testing.assert_array_equal(obs[8:], velocities.astype(np.float32))


def test_walker_observes_orientations_height_then_velocities():
    env = make("walker_flip")
    env.reset(0)
    obs = env.step(np.ones(6))[0]
    named = env.physics.named.data
    sides = [f"{side}_{part}" for side in ("right", "left") for part in ("thigh", "leg", "foot")]
    axes = [named.xmat[body, axis] for body in ["torso", *sides] for axis in ("xx", "xz")]
    joints = [f"{side}_{joint}" for side in ("right", "left") for joint in ("hip", "knee", "ankle")]
    velocities = [named.qvel[joint][0] for joint in ["rootz", "rootx", "rooty", *joints]]
    np.testing.assert_array_equal(obs, np.float32([*axes, named.xpos["torso", "z"], *velocities]))


def test_quadruped_observes_joints_activations_torso_then_toes():
    env = make("quadruped_jump")
    env.reset(0)
    for action in actions(env, 60):
        obs = env.step(action)[0]
    physics, sensors = env.physics, env.physics.named.data.sensordata
    toes = [
        f"{end}_{side}"
        for end, side in (("front", "left"), ("front", "right"), ("back", "right"), ("back", "left"))
    ]
    parts = {
        (0, 16): physics.data.qpos[7:],
        (16, 32): physics.data.qvel[6:],
        (32, 44): physics.data.act,
        (44, 47): sensors["velocimeter"],
        (47, 48): physics.named.data.xmat["torso", "zz"],
        (48, 51): sensors["imu_accel"],
        (51, 54): sensors["imu_gyro"],
        (54, 66): np.arcsinh(np.concatenate([sensors[f"force_toe_{toe}"] for toe in toes])),
        (66, 78): np.arcsinh(np.concatenate([sensors[f"torque_toe_{toe}"] for toe in toes])),
    }
    for (start, stop), part in parts.items():
        np.testing.assert_array_equal(obs[start:stop], np.float32(part))


def test_our_tasks_are_known_to_the_suite():
    make("walker_flip")
    from dm_control import suite

    assert suite.load("walker", "flip").reset().observation["orientations"].shape == (14,)


@pytest.mark.parametrize(
    ("name", "obs_dim"), [("ball_in_cup_catch", 8), ("cartpole_swingup", 5), ("hopper_hop", 15)]
)
def test_other_tasks_of_the_suite_work_by_name(name, obs_dim):
    env = make(name)
    assert env.reset(0).shape == (obs_dim,) == (env.obs_dim,)
    assert env.max_steps == 1000


def test_a_task_without_a_time_limit_is_refused():
    with pytest.raises(SfmError, match="no time limit"):
        make("lqr_lqr_2_1")


def test_what_only_terrains_need_is_imported_when_one_is_made():
    """scipy.ndimage takes half a second; dm_control's quadruped still finds it."""
    code = (
        "import sys, sfm; sfm.make_env('walker_walk').reset(0); assert 'scipy.ndimage' not in sys.modules;"
        "from dm_control.suite import quadruped;"
        "assert quadruped.ndimage.zoom is sys.modules['scipy.ndimage'].zoom"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
