"""Gymnasium's environments as ours: ends, starts, actions, and what does not fit."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

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
        r"discrete actions \(Discrete\(3\)\); only continuous": still(box, Discrete(3)),
        r"observes pixels \(32x32x3\)": still(Box(0, 255, (32, 32, 3), np.uint8), bounded),
        r"part 'cam/left', observes pixels \(8x9\)": still(
            Dict({"x": box, "cam": Dict({"left": Box(0, 255, (8, 9), np.uint8)})}), bounded
        ),
        "has no observations": still(Box(0, 1, (0,)), bounded),
        r"\(-inf, inf.*only a bounded Box": still(box, box),
        "max_episode_steps": still(box, bounded, max_episode_steps=None),
    }
    for message, name in refused.items():
        with pytest.raises(SfmError, match=message):
            make(name)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros(3), r"step 1: observation has shape \[3\], expected \[2\], by its own observation_space"),
        ("abc", "step 1: observation must be numbers: could not convert"),
        (ZeroDivisionError("ugly\nlines"), "failed in step 1: ZeroDivisionError: ugly lines"),
    ],
)
def test_what_goes_wrong_inside_is_one_line(still, given, message):
    env = make(still(Box(0, 1, (2,)), Box(-1, 1, (2,))))
    env.reset(0)
    inner = env._env.unwrapped

    def step(action):
        if isinstance(given, Exception):
            raise given
        return given, 0.0, False, False, {}

    inner.step = step
    with pytest.raises(SfmError, match=message):
        env.step(np.zeros(2))


def test_names_are_the_simulators_own():
    env = make("Hopper-v5")
    assert env.obs_names[:3] == ("qpos/rootz", "qpos/rooty", "qpos/thigh_joint")
    assert env.obs_names[5:7] == ("qvel/rootx", "qvel/rootz")
    assert env.action_names == ("thigh_joint", "leg_joint", "foot_joint")
    assert [signal.unit for signal in env.obs_signals][4:6] == ["rad", "m/s"]
    assert make("Pendulum-v1").obs_names == ("obs[0]", "obs[1]", "obs[2]")
    assert make("Ant-v5").obs_names[-1] == "cfrc_ext[77]"


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
