"""Recorded motions on the bodies of dm_control: those that are bundled, and others where they are at hand."""

from pathlib import Path

import numpy as np
import pytest

import sfm
from sfm.envs import make

SHARED = Path(__file__).parents[4] / "shared" / "motion"


def walk_reward(env, demos):
    """What walker_walk thinks of the states of a demonstration: its mean over 1,000 steps."""
    rewards = []
    for qpos, qvel in zip(demos.qpos[0], demos.qvel[0], strict=True):
        env.set_state(qpos, qvel)
        rewards.append(env._env.task.get_reward(env.physics))
    return 1000 * np.mean(rewards)


def test_a_person_walks_as_the_walker():
    env = make("walker_walk")
    demos, report, _ = sfm.demos_from_motion("human_walk", env)
    assert demos.obs.shape == (1, 1001, 24)
    assert 1 / report.period == pytest.approx(0.81, abs=0.01)
    assert report.speed == pytest.approx(1.2, abs=0.05)
    assert walk_reward(env, demos) > 990


def test_the_experts_run_is_the_same_again():
    env = make("walker_run")
    report = sfm.demos_from_motion("walker_run", env, limits="keep", ground="keep").report
    assert report.speed == pytest.approx(6.1, abs=0.1)
    assert 1 / report.period == pytest.approx(1.79, abs=0.03)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded motions are not here")
def test_the_recorded_walk_itself():
    env = make("walker_walk")
    demos, report, _ = sfm.demos_from_motion(SHARED / "human_walk.mot", env, "opensim-walker")
    assert 1 / report.period == pytest.approx(0.81, abs=0.005)
    assert report.speed == pytest.approx(1.15, abs=0.06)
    assert walk_reward(env, demos) > 990


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded motions are not here")
@pytest.mark.parametrize(
    ("name", "mapping", "speed"),
    [("humanoid_walk.npz", "isaac-humanoid", 1.51), ("humanoid3d_walk.txt", "deepmimic-humanoid", 0.89)],
)
def test_humanoids_walk_upright(name, mapping, speed):
    env = make("humanoid_walk")
    choices = {"forward": "contact", "ground": "each", "seconds": 2}
    demos, report, _ = sfm.demos_from_motion(SHARED / name, env, mapping, **choices)
    assert demos.qpos is not None
    assert demos.qvel is not None
    assert report.speed == pytest.approx(speed, abs=0.05)
    assert report.sliding < 0.3
    assert report.penetration < 1e-6
    for qpos, qvel in zip(demos.qpos[0], demos.qvel[0], strict=True):
        env.set_state(qpos, qvel)
        assert env.physics.torso_upright() > 0.9
        assert env.physics.head_height() > 1.35
