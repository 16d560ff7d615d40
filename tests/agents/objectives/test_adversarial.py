"""Adversarial features: they pull policy and expert apart, within the gradient penalty."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, random_demos, same, slope, small_sfm

from sfm.agents.objectives.adversarial import draw_states, gradient_penalty
from sfm.agents.objectives.sfm import SFM

KEY = jax.random.key(0)


@pytest.mark.usefixtures("double")
def test_the_gradient_penalty_against_finite_differences():
    rng = np.random.default_rng(0)
    a, b, w = rng.normal(size=(6, 4)), rng.normal(size=(6, 4)), rng.normal(size=4)

    def f(x):
        return jnp.sin(x @ w) + (x**2).sum()

    u = np.asarray(jax.random.uniform(KEY, (6, 1)))
    slopes = [[slope(f, x, e) for e in np.eye(4)] for x in u * a + (1 - u) * b]
    expected = np.mean((np.linalg.norm(slopes, axis=-1) - 0.4) ** 2)
    assert float(gradient_penalty(f, KEY, a, b, 0.4)) == pytest.approx(expected, rel=1e-6)


def test_the_gradient_penalty_has_a_gradient_where_f_is_flat():
    penalty = jax.grad(lambda c: gradient_penalty(lambda x: (c * x).sum(), KEY, *np.zeros((2, 3, 4)), 0.4))
    assert np.isfinite(penalty(jnp.zeros(4))).all()


def test_states_are_drawn_evenly_from_the_episodes_and_never_from_padding():
    obs = np.arange(12, dtype=np.float32).reshape(2, 6, 1)
    drawn = np.asarray(draw_states(KEY, obs, np.array([5, 2]), 7000)).ravel().astype(int)
    counts = np.bincount(drawn, minlength=12)
    assert counts[[5, 8, 9, 10, 11]].sum() == 0
    np.testing.assert_allclose(counts[[0, 1, 2, 3, 4, 6, 7]], 1000, atol=100)  # over three deviations


@pytest.fixture(scope="module")
def refreshed():
    """The first state, the state after 150 refreshes on one set of episodes, and the metrics of each."""
    sfm = SFM(small_sfm("adversarial", lr=3e-3, penalty=0.1, refresh_batch=64, decay_updates=200), SPEC)
    demos, episodes = random_demos((9, 7)), random_demos((8, 8))
    episodes = episodes._replace(obs=episodes.obs + 0.5)
    start = sfm.init(KEY, demos)

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
