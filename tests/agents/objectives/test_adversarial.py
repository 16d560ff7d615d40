"""Adversarial features: they pull policy and expert apart, within the gradient penalty."""

import jax
import numpy as np
import pytest
from helpers import SPEC, random_demos, rng, same, small_sfm

from sfm.agents.objectives.sfm import SFM

KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def refreshed():
    """The first state, the state after 150 refreshes on one set of episodes, and the metrics of each."""
    sfm = SFM(small_sfm("adversarial", lr=3e-3, penalty=0.1, refresh_batch=64, decay_updates=200), SPEC)
    demos, episodes = random_demos((9, 7)), random_demos((8, 8))
    episodes = episodes._replace(obs=episodes.obs + 0.5)
    start = sfm.init(rng())

    @jax.jit
    def run(o):
        def step(o, key):
            return sfm.refresh(o, episodes.obs, episodes.length, demos, key)

        return jax.lax.scan(step, o, jax.random.split(KEY, 150))

    return sfm, start, *run(start)


def test_refreshing_widens_the_gap_between_policy_and_expert(refreshed):
    _, _, _, metrics = refreshed
    gap = np.asarray(metrics["feature_gap"])
    assert gap[-10:].mean() > 1.5 * gap[:10].mean()


def test_refreshing_changes_the_features_only(refreshed):
    sfm, start, after, _ = refreshed
    assert not same(start.features.net, after.features.net)
    assert same(start._replace(features=()), after._replace(features=()))
    assert sfm.fresh == (10_000, 4, True)
    assert SFM(small_sfm("fdm"), SPEC).fresh is None
