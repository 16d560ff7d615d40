"""Environments that show their simulation: any state is observed as the episode itself would observe it."""

import numpy as np
import pytest

from sfm.envs import make
from sfm.envs.base import as_mujoco
from sfm.envs.repeat import Repeat
from sfm.errors import SfmError


@pytest.mark.parametrize("name", ["walker_walk", "cheetah_run", "cartpole_swingup", "humanoid_walk"])
def test_a_state_is_observed_as_in_an_episode_and_goes_on_as_there(name):
    env, other = make(name), make(name)
    env.reset(3)
    rng = np.random.default_rng(0)
    for _ in range(20):
        obs, _, _, _ = env.step(rng.uniform(-1, 1, env.action_dim))
    qpos, qvel = env.data.qpos.copy(), env.data.qvel.copy()
    np.testing.assert_allclose(other.observe(qpos, qvel), obs, atol=1e-6)
    assert other.observe(qpos, qvel).dtype == np.float32
    first, action = other.set_state(qpos, qvel), rng.uniform(-1, 1, env.action_dim)
    np.testing.assert_allclose(first, obs, atol=1e-6)
    np.testing.assert_allclose(other.step(action)[0], env.step(action)[0], atol=2e-4)  # but for warm starts


def test_an_episode_that_begins_in_a_state_has_its_full_length():
    env = make("walker_walk")
    env.max_steps = 3
    env.reset(0)
    env.step(np.zeros(6))
    env.set_state(np.zeros(9), np.zeros(9))
    assert [env.step(np.zeros(6))[3] for _ in range(3)] == [False, False, True]


def test_what_ran_before_leaves_nothing_behind():
    env = make("quadruped_walk")
    env.reset(0)
    qpos, qvel = env.data.qpos.copy(), env.data.qvel.copy()
    first = env.set_state(qpos, qvel)
    for _ in range(5):
        env.step(np.ones(12))  # its muscles are at work
    np.testing.assert_array_equal(env.set_state(qpos, qvel), first)


def test_a_decision_of_several_steps_shows_the_same_simulation():
    env = make("walker_walk")
    repeated = as_mujoco(Repeat(env, 2))
    assert repeated
    assert repeated.model is env.model
    np.testing.assert_array_equal(
        repeated.observe(np.ones(9), np.ones(9)), env.observe(np.ones(9), np.ones(9))
    )
    assert as_mujoco(make("probe_point")) is None
    assert as_mujoco(Repeat(make("probe_point"), 2)) is None


@pytest.mark.parametrize(
    ("qpos", "qvel", "message"),
    [
        (np.zeros(8), np.zeros(9), r"'walker_walk' has qpos of 9 numbers, got shape \[8\]"),
        (np.zeros(9), np.zeros((1, 9)), r"'walker_walk' has qvel of 9 numbers, got shape \[1, 9\]"),
        (
            np.zeros(9),
            np.full(9, np.nan),
            r"cannot be set to a state that is not finite \(qvel\)",
        ),
    ],
)
def test_states_that_do_not_fit_are_refused(qpos, qvel, message):
    with pytest.raises(SfmError, match=message):
        make("walker_walk").set_state(qpos, qvel)
