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
        return jax.lax.scan(lambda m, k: m.fit(config, moved(k)), model, jax.random.split(KEY, 600))

    model, errors = run(InverseModel.create(config, SPEC, rng()))
    assert errors[0] > 0.3
    unseen = moved(jax.random.key(1))
    assert jnp.abs(model(unseen.obs, unseen.next_obs) - unseen.action).mean() < 0.15


def test_weight_decay_pulls_every_parameter_to_zero():
    batch = random_batch()
    model = InverseModel.create(InverseConfig(width=8), SPEC, rng())
    model = model._replace(trained=descending(model.trained))
    without, error = model.fit(InverseConfig(decay=0.0), batch)
    with_decay, same_error = model.fit(InverseConfig(decay=0.1), batch)
    pulled = jax.tree.map(lambda a, start: a - 0.1 * start, without.trained.net, model.trained.net)
    assert_close(with_decay.trained.net, pulled)
    assert float(error) == pytest.approx(float(same_error))
    expected = np.square(without._replace(trained=model.trained)(batch.obs, batch.next_obs) - batch.action)
    assert float(error) == pytest.approx(float(expected.mean()), rel=1e-5)


def test_pairs_are_standardised_by_one_mean_and_a_spread_of_at_least_a_tenth():
    rows = np.array([[1.0, 5.0], [3.0, 5.0]], np.float32)
    moments = Moments.zeros(2).add(rows)
    pair = standardised_pair(moments, np.float32([3.0, 5.1]), np.float32([2.0, 4.8]))
    np.testing.assert_allclose(pair, [1.0, 1.0, 0.0, -2.0], rtol=1e-3, atol=1e-4)
