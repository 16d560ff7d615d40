"""Gymnasium's environments as ours: ends, starts, actions, and what does not fit."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from sfm.envs import make
from sfm.errors import SfmError


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
