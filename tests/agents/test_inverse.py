"""The inverse action model finds the action that led from one state to the next."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, assert_close, descending, random_batch, rng

from sfm.agents.inverse import InverseModel, standardised_pair
from sfm.agents.optim import Moments
from sfm.config import InverseConfig

KEY = jax.random.key(0)


def test_it_learns_actions_from_transitions():
    config = InverseConfig(width=32, lr=3e-3, decay=0.0)

    def moved(key):
        """s' = s + a, in the first coordinates; the others are far from zero and do not move."""
        k_obs, k_action = jax.random.split(key)
        obs = jax.random.normal(k_obs, (64, SPEC.obs_dim)) + jnp.array([0, 0, 50, -50])
        action = jax.random.uniform(k_action, (64, SPEC.action_dim), minval=-1.0)
        return random_batch(count=64)._replace(obs=obs, action=action, next_obs=obs.at[:, :2].add(action))

    @jax.jit
    def run(model):
        return jax.lax.scan(lambda m, k: m.fit(config, moved(k), SPEC), model, jax.random.split(KEY, 600))

    model, errors = run(InverseModel.create(config, SPEC, rng()))
    assert errors[0] > 0.3
    unseen = moved(jax.random.key(1))
    obs, action = model(unseen.obs, unseen.next_obs, SPEC)
    assert jnp.abs(action - unseen.action).mean() < 0.15
    assert obs is unseen.obs


def test_from_a_part_of_two_states_it_learns_the_rest_of_the_first():
    """s' = s + v, and v is not matched; what is not matched of the argument must not matter."""
    config, spec = InverseConfig(width=32, lr=3e-3, decay=0.0), SPEC._replace(matched=(0, 1))

    def moved(key):
        place, speed = jax.random.normal(key, (2, 64, 2)) * jnp.array([1.0, 5.0])[:, None, None]
        obs = jnp.concatenate([place, speed + 20], 1)
        return random_batch(count=64)._replace(obs=obs, action=0.1 * speed, next_obs=obs.at[:, :2].add(speed))

    @jax.jit
    def run(model):
        return jax.lax.scan(lambda m, k: m.fit(config, moved(k), spec), model, jax.random.split(KEY, 600))

    model, _ = run(InverseModel.create(config, spec, rng()))
    unseen = moved(jax.random.key(1))
    blank = [x.at[:, 2:].set(jnp.nan) for x in (unseen.obs, unseen.next_obs)]
    obs, action = model(*blank, spec)
    assert jnp.abs(action - unseen.action).mean() < 0.1
    assert jnp.abs(obs - unseen.obs).mean() < 0.5  # of a spread of 5, away from 20
    np.testing.assert_array_equal(obs[:, :2], unseen.obs[:, :2])


def test_weight_decay_pulls_every_parameter_to_zero():
    batch = random_batch()
    model = InverseModel.create(InverseConfig(width=8), SPEC, rng())
    model = model._replace(trained=descending(model.trained))
    without, error = model.fit(InverseConfig(decay=0.0), batch, SPEC)
    with_decay, same_error = model.fit(InverseConfig(decay=0.1), batch, SPEC)
    pulled = jax.tree.map(lambda a, start: a - 0.1 * start, without.trained.net, model.trained.net)
    assert_close(with_decay.trained.net, pulled)
    assert float(error) == pytest.approx(float(same_error))
    _, action = without._replace(trained=model.trained)(batch.obs, batch.next_obs, SPEC)
    expected = np.square(action - batch.action)
    assert float(error) == pytest.approx(float(expected.mean()), rel=1e-5)


def test_pairs_are_standardised_by_one_mean_and_a_spread_of_at_least_a_tenth():
    rows = np.array([[1.0, 5.0], [3.0, 5.0]], np.float32)
    moments = Moments.zeros(2).add(rows)
    pair = standardised_pair(moments, np.float32([3.0, 5.1]), np.float32([2.0, 4.8]), SPEC)
    np.testing.assert_allclose(pair, [1.0, 1.0, 0.0, -2.0], rtol=1e-3, atol=1e-4)
