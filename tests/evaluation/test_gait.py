"""Strides and speed, of motions where both are known and of what the experts do."""

import numpy as np
import pytest

import sfm
from sfm.demos import Demos
from sfm.demos.motion import from_motion
from sfm.envs import make
from sfm.envs.repeat import repeated
from sfm.errors import SfmError
from sfm.evaluation import gait
from tests.demos.motion.clips import LEG, Stage, clip, model

STEP = 0.02


def walking(frequency, speed, seconds=8.0):
    """qpos of the one-legged model."""
    times = np.arange(0, seconds, STEP)
    qpos = np.zeros((len(times), 4))
    qpos[:, 1], qpos[:, 3] = speed * times, 0.4 * np.sin(2 * np.pi * frequency * times)
    return qpos


@pytest.mark.parametrize("frequency", [0.81, 2.5])
def test_a_stride_is_told_from_a_shuffle_of_the_same_speed(frequency):
    found = gait.gait([walking(frequency, 1.15)], model(LEG), STEP)
    assert found.frequency == pytest.approx(frequency, rel=0.01)
    assert found.speed == pytest.approx(1.15)


def test_several_episodes_are_told_by_their_medians():
    episodes = [walking(1, 1), walking(2, 2), walking(2, 9)]
    found = gait.gait(episodes, model(LEG), STEP)
    assert found.frequency == pytest.approx(2, rel=0.01)
    assert found.speed == pytest.approx(2)


def test_what_does_not_repeat_has_no_frequency():
    noise = np.zeros((400, 4))
    noise[:, 3] = np.cumsum(np.random.default_rng(0).standard_normal(400)) * 0.05
    still = np.zeros((400, 4))
    assert gait.gait([still], model(LEG), STEP) == (None, 0.0)
    assert gait.gait([still, noise, walking(1, 0)], model(LEG), STEP).frequency is None
    assert gait.stride_frequency(np.random.default_rng(0).standard_normal((400, 3)), STEP) is None


def test_what_cannot_move_along_has_no_speed():
    arm = '<mujoco><worldbody><body><joint axis="0 1 0"/><geom size="1"/></body></worldbody></mujoco>'
    assert gait.gait([np.zeros((9, 1))], model(arm), STEP) == (None, None)


def test_demonstrations_of_a_clip_walk_as_the_clip_does():
    stage = Stage(LEG)
    given = clip(hip=lambda t: 0.3 * np.sin(2 * np.pi * t / 0.7), ahead=lambda t: 0.9 * t)
    made = from_motion(given, stage).demos
    assert gait.of_demos(made, stage) == pytest.approx((1 / 0.7, 0.9), rel=0.01)
    with pytest.raises(SfmError, match="these demonstrations have no qpos"):
        gait.of_demos(Demos(made.obs, None, made.length), stage)


def test_the_expert_runs():
    env, policy = make("walker_run"), sfm.load_policy("walker_run")
    env.max_steps = 300
    found = gait.of_policy(env, policy, episodes=1)
    assert found.frequency == pytest.approx(1.78, abs=0.1)
    assert found.speed == pytest.approx(5, abs=1)
    again = env.reset(0)  # the environment itself is as before
    np.testing.assert_array_equal(again, make("walker_run").reset(0))
    with pytest.raises(SfmError, match="'probe_point' does not show its simulation"):
        gait.of_policy(make("probe_point"), policy)


def test_a_step_of_the_environment_is_a_decision():
    env, policy = repeated(make("walker_run"), 2), Counting()
    env.max_steps = 10
    assert gait.of_policy(env, policy, episodes=1).speed is not None
    assert policy.decisions == 10


class Counting:
    """Stands still, in an environment whose steps already hold for as long as its actions do."""

    action_repeat, decisions = 2, 0

    def __call__(self, obs, noise=None):
        self.decisions += 1
        return np.zeros((len(obs), 6), np.float32)
