"""The tanh-Gaussian policy: its density, its bounds, its targets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, assert_close, bootstrap, make, on_host, random_batch, random_like, same

from sfm.agents.learners.policies import GaussianPolicy
from sfm.agents.optim import Trained, polyak

KEY = jax.random.key(1)


def policy_with(mean, raw):
    """A policy of one action that ignores the state."""
    return GaussianPolicy(lambda obs: jnp.broadcast_to(jnp.array([mean, raw]), (obs.shape[0], 2)), -2.5, 2.5)  # pyright: ignore


def density(correction: bool, mean=0.3, raw=-0.5):
    """Sampled actions in ascending order, with the density that is claimed for each."""
    learner, _ = make("stochastic", tanh_correction=correction)
    action, log_prob = learner.sample(policy_with(mean, raw), jnp.zeros((20_000, 1)), KEY)
    order = np.argsort(action[:, 0])
    return np.asarray(action[:, 0], np.float64)[order], np.exp(np.asarray(log_prob, np.float64)[order])


def test_the_corrected_log_probability_is_that_of_the_action():
    action, p = density(correction=True)
    assert np.trapezoid(p, action) == pytest.approx(1, abs=0.01)
    std = np.exp(-2.5 + 2.5 * (np.tanh(-0.5) + 1))
    inside = np.abs(action) < 0.999
    before = np.arctanh(action[inside])
    gaussian = np.exp(-0.5 * ((before - 0.3) / std) ** 2) / (std * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(p[inside], gaussian / (1 - action[inside] ** 2), rtol=2e-3)


def test_the_plain_log_probability_is_that_of_the_gaussian_before_tanh():
    action, p = density(correction=False)
    inside = np.abs(action) < 0.999
    assert np.trapezoid(p[inside], np.arctanh(action[inside])) == pytest.approx(1, abs=0.01)


def test_the_corrected_log_probability_stays_finite_at_the_bounds():
    learner, _ = make("stochastic", tanh_correction=True)
    action, log_prob = learner.sample(policy_with(50.0, 0.0), jnp.zeros((4, 1)), KEY)
    assert (action == 1).all()
    assert np.isfinite(log_prob).all()


def test_the_log_std_covers_its_bounds_and_no_more():
    learner, state = make("stochastic", log_std_min=-4.0, log_std_max=1.0)
    obs = 100 * np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    mean, log_std = jax.device_get(learner.policy(state)).moments(obs)
    assert mean.shape == log_std.shape == (500, 2)
    assert -4 <= log_std.min() < -3.99
    assert 0.99 < log_std.max() <= 1
    for raw, bound in ((-20.0, -2.5), (0.0, 0.0), (20.0, 2.5)):
        assert float(policy_with(0.0, raw).moments(jnp.zeros((1, 1)))[1][0, 0]) == pytest.approx(bound)


def test_the_target_values_a_sample_of_the_online_policy():
    learner, state = make("stochastic")
    state = state._replace(actor=Trained(random_like(state.actor.net), state.actor.opt, state.actor.tx))
    batch = random_batch()
    noise = np.asarray(jax.random.normal(jax.random.split(jax.random.key(1))[0], (32, 2)))
    obs = np.asarray(batch.next_obs)
    action = jax.device_get(state.actor.net)(obs, noise)
    psi = np.mean([critic(obs, action) for critic in on_host(state.target_critic)], 0)
    assert_close(bootstrap(learner, state, batch), SPEC.gamma * np.asarray(batch.mask)[:, None] * psi)


def test_the_value_of_a_state_takes_a_draw_of_its_own_and_its_entropy():
    learner, state = make("stochastic", temperature=0.7)
    batch, seen = random_batch(), []

    def loss(critics):
        seen.append(critics.pi(batch.obs))
        return critics.psi(batch.obs, batch.action).sum(), jnp.zeros(())

    learner.critic_step(state, batch, loss, KEY)
    action, log_prob = learner.sample(state.actor.net, batch.obs, jax.random.split(KEY)[1])
    assert_close(seen[0], (action, -0.7 * log_prob))


def test_the_target_critic_moves_on_every_step():
    learner, state = make("stochastic")
    state = state._replace(critic=Trained(random_like(state.critic.net), state.critic.opt, state.critic.tx))
    after = learner.sync(state, 1)
    assert_close(after.target_critic, polyak(state.target_critic, state.critic.net, 0.005))
    assert same((after.actor, after.critic), (state.actor, state.critic))
