"""A policy acts alike on the host and on the device, for one state and for many."""

import jax
import numpy as np
import pytest
from helpers import LEARNERS, make

OBS = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
NOISE = np.random.default_rng(1).normal(size=(6, 2)).astype(np.float32)


@pytest.mark.parametrize("noise", [None, NOISE], ids=["greedy", "exploring"])
@pytest.mark.parametrize("kind", LEARNERS)
def test_host_and_device_act_alike(kind, noise):
    learner, state = make(kind)
    policy = learner.policy(state)
    on_host = jax.device_get(policy)
    action = on_host(OBS, noise)
    assert (type(action), action.dtype, action.shape) == (np.ndarray, np.float32, (6, 2))
    assert np.abs(action).max() <= 1
    np.testing.assert_allclose(jax.jit(lambda p, o, n: p(o, n))(policy, OBS, noise), action, atol=1e-6)
    for i in range(6):
        alone = on_host(OBS[i], None if noise is None else noise[i])
        assert (type(alone), alone.shape) == (np.ndarray, (2,))
        np.testing.assert_allclose(alone, action[i], atol=1e-6)


@pytest.mark.parametrize("kind", ["td3", "td7"])
def test_a_deterministic_policy_explores_by_added_noise(kind):
    learner, state = make(kind, explore_noise=0.5)
    policy = jax.device_get(learner.policy(state))
    expected = np.clip(policy(OBS) + 0.5 * NOISE, -1, 1)
    np.testing.assert_allclose(policy(OBS, NOISE), expected, atol=1e-6)
    assert (np.abs(policy(OBS, 10 * NOISE)) == 1).any()


def test_a_stochastic_policy_explores_by_sampling():
    learner, state = make("stochastic")
    policy = jax.device_get(learner.policy(state))
    mean, log_std = policy.moments(OBS)
    np.testing.assert_allclose(policy(OBS), np.tanh(mean), atol=1e-6)
    np.testing.assert_allclose(policy(OBS, NOISE), np.tanh(mean + np.exp(log_std) * NOISE), atol=1e-6)
