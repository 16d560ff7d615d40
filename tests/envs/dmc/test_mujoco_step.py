"""The tasks on bare MuJoCo against dm_control itself: over whole episodes, in rare states, in broken ones."""

import numpy as np
import pytest

from sfm.envs import TASKS, make
from sfm.errors import SfmError


def both(name):
    """Ours, and the task as the suite runs it: its physics, and its reset and step as ours are called."""
    env = make(name)  # first: it imports the suite without OpenGL and adds our tasks to it
    from dm_control import suite

    random = np.random.RandomState()
    plain = suite.load(*name.split("_", 1), task_kwargs={"random": random})
    spec = plain.action_spec()

    def reset(seed):
        random.seed(seed)
        return flat(plain.reset().observation)

    def step(action):
        centre, reach = (spec.maximum + spec.minimum) / 2, (spec.maximum - spec.minimum) / 2
        at = plain.step(centre + reach * action)
        return flat(at.observation), float(at.reward), at.last()

    return env, plain.physics, reset, step


def flat(observation):
    return np.concatenate([np.ravel(part) for part in observation.values()]).astype(np.float32)


def swings(env, steps, seed):
    """Random actions, from limp to violent: float32 [steps, a]."""
    rng = np.random.default_rng(seed)
    return (rng.uniform(0, 1, (steps, 1)) * rng.uniform(-1, 1, (steps, env.action_dim))).astype(np.float32)


@pytest.mark.parametrize("name", [*TASKS, "quadruped_fetch", "cartpole_swingup"])
def test_episodes_are_those_of_dm_control(name):
    env, _, reset, step = both(name)
    for seed, steps in ((0, env.max_steps if name in TASKS else 50), (1, 50), (2**32 - 1, 50)):
        np.testing.assert_array_equal(env.reset(seed), reset(seed))
        actions = swings(env, steps, seed)
        obs, rewards, terminated, truncated = zip(*map(env.step, actions), strict=True)
        expected_obs, expected_rewards, last = zip(*map(step, actions), strict=True)
        np.testing.assert_array_equal(obs, expected_obs)
        np.testing.assert_allclose(rewards, expected_rewards, rtol=0, atol=1e-12)
        assert truncated == last
        assert not any(terminated)


@pytest.mark.parametrize("name", TASKS)
def test_rewards_are_those_of_dm_control_where_chance_does_not_lead(name):
    """Upright and fallen, high and low, fast in both directions: each state is set and then stepped."""
    env, physics, reset, step = both(name)
    env.reset(0), reset(0)
    rng = np.random.default_rng(0)
    rewards, expected = [], []
    start = env.physics.data.qpos.copy()
    for action in swings(env, 100, 0):
        qpos, qvel = start + rng.normal(0, 0.5, len(start)), rng.normal(0, 6, env.physics.model.nv)
        for each in (env.physics, physics):
            with each.reset_context():
                each.data.qpos[:], each.data.qvel[:] = qpos, qvel
        rewards.append(env.step(action)[1])
        expected.append(step(action)[1])
    np.testing.assert_allclose(rewards, expected, rtol=0, atol=1e-12)
    assert np.ptp(rewards) > 0.8


@pytest.mark.parametrize("name", ["cheetah_run", "walker_walk", "quadruped_jump"])
@pytest.mark.parametrize(("field", "value"), [("qpos", np.nan), ("qvel", 1e11), ("action", np.nan)])
def test_what_dm_control_refuses_is_refused_in_its_words(name, field, value):
    env, physics, reset, step = both(name)
    from dm_control.rl.control import PhysicsError

    env.reset(0), reset(0)
    action = np.zeros(env.action_dim)
    if field == "action":
        action[0] = value
    else:
        for each in (env.physics, physics):
            getattr(each.data, field)[0] = value
    with pytest.raises(PhysicsError) as expected:
        step(action)
    with pytest.raises(SfmError, match=f"the simulation of '{name}' broke down") as ours:
        env.step(action)
    assert str(ours.value).endswith(str(expected.value))
    np.testing.assert_array_equal(env.reset(1), reset(1))
    np.testing.assert_array_equal(env.step(np.zeros(env.action_dim))[0], step(np.zeros(env.action_dim))[0])
