"""Our tasks as Gymnasium's environments."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sfm.envs import TASKS, make
from sfm.envs.registration import register
from sfm.policy import load_policy


@pytest.mark.filterwarnings("ignore:.*infinity")
def test_our_tasks_are_gymnasium_environments():
    register()
    register()
    assert all(f"sfm/{task}-v0" in gymnasium.registry for task in TASKS)
    check_env(gymnasium.make("sfm/walker_walk-v0").unwrapped, skip_render_check=True)


def test_a_registered_task_takes_actions_in_the_range_of_its_actuators():
    register()
    theirs, ours, policy = (
        gymnasium.make("sfm/quadruped_walk-v0"),
        make("quadruped_walk"),
        load_policy("quadruped_walk"),
    )
    np.testing.assert_allclose(theirs.action_space.high[:3], [1, 1.1, 0.8], rtol=1e-6)
    obs, same = theirs.reset(seed=3)[0], ours.reset(3)
    for _ in range(20):
        action, _ = policy.predict(obs)
        assert theirs.action_space.contains(action)
        obs, same = theirs.step(action)[0], ours.step(policy(same))[0]
        np.testing.assert_allclose(obs, same, rtol=1e-3, atol=1e-3)


def test_a_registered_task_starts_where_ours_does():
    register()
    theirs, ours = gymnasium.make("sfm/walker_walk-v0"), make("walker_walk")
    assert theirs.spec.max_episode_steps == ours.max_steps
    obs, _ = theirs.reset(seed=5)
    np.testing.assert_array_equal(obs, ours.reset(5))
    action = np.full(6, 0.5, np.float32)
    np.testing.assert_array_equal(theirs.step(action)[0], ours.step(action)[0])
    followups = []
    for _ in range(2):
        theirs.reset(seed=5)
        followups.append([theirs.reset()[0] for _ in range(2)])
    np.testing.assert_array_equal(*followups)
    assert not np.array_equal(followups[0][0], followups[0][1])
