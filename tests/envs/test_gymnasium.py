"""Gymnasium both ways: its environments as ours, ours as its."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.utils.env_checker import check_env

from sfm.envs import TASKS, make
from sfm.envs.registration import register
from sfm.errors import SfmError
from sfm.policy import load_policy


class Still(gymnasium.Env):
    """Nothing happens, between the given spaces."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space
        self.taken = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.low, {}

    def step(self, action):
        self.taken.append(action)
        return self.observation_space.low, 0.0, False, False, {}


@pytest.fixture
def still():
    """Register a Still environment for the duration of a test; returns its id."""
    names = []

    def add(observation_space, action_space, max_episode_steps=5):
        names.append(name := f"Still{len(names)}-v0")
        spaces = {"observation_space": observation_space, "action_space": action_space}
        gymnasium.register(name, Still, max_episode_steps=max_episode_steps, kwargs=spaces)
        return name

    yield add
    for name in names:
        del gymnasium.registry[name]


def test_early_termination_is_passed_through():
    env = make("InvertedPendulum-v5")
    assert (env.obs_dim, env.action_dim, env.max_steps) == (4, 1, 1000)
    env.reset(0)
    steps, ended = 0, (False, False)
    while not any(ended):
        obs, reward, *ended = env.step(np.ones(1))
        steps += 1
    assert (ended, obs.dtype, reward) == ([True, False], np.float32, 0.0)
    assert steps < 100


def test_time_limit_is_passed_through():
    env = make("Pendulum-v1")
    assert (env.obs_dim, env.action_dim, env.max_steps) == (3, 1, 200)
    env.reset(0)
    ends = [tuple(env.step(np.zeros(1))[2:]) for _ in range(200)]
    assert ends == [(False, False)] * 199 + [(False, True)]


@pytest.mark.parametrize("name", ["Hopper-v5", "Pendulum-v1"])
def test_the_seed_determines_the_start(name):
    env = make(name)
    starts = [env.reset(seed) for seed in (3, 4, 3)]
    np.testing.assert_array_equal(starts[0], starts[2])
    assert not np.array_equal(starts[0], starts[1])


def test_actions_map_to_the_bounds_and_observations_are_flattened(still):
    env = make(still(Box(0, 1, (2, 3)), Box(np.float32([-2, 0]), np.float32([2, 10]))))
    assert env.reset(0).shape == (6,) == (env.obs_dim,)
    for action in ([-1, -1], [0, 0], [1, 1], [9, -9]):
        env.step(np.array(action))
    np.testing.assert_array_equal(env._env.unwrapped.taken, [[-2, 0], [0, 5], [2, 10], [2, 0]])


def test_spaces_that_do_not_fit_are_refused(still):
    box, bounded = Box(-np.inf, np.inf, (2,)), Box(-1, 1, (2,))
    refused = {
        "only a Box": still(Discrete(3), bounded),
        "only a bounded Box": still(box, Discrete(3)),
        r"\(-inf, inf.*only a bounded Box": still(box, box),
        "max_episode_steps": still(box, bounded, max_episode_steps=None),
    }
    for message, name in refused.items():
        with pytest.raises(SfmError, match=message):
            make(name)


def test_an_environment_that_cannot_be_filmed_says_so(still):
    env = make(still(Box(0, 1, (2,)), Box(-1, 1, (2,))))
    env.reset(0)
    with pytest.raises(SfmError, match="rgb_array"):
        env.render()


def test_frames_have_the_size_asked_for():
    env = make("Pendulum-v1")
    env.reset(0)
    frame = env.render(60, 80)
    env.close()
    assert (frame.shape, frame.dtype) == ((60, 80, 3), np.uint8)


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
