"""The cost between expert and policy: what is drawn, the losses by hand, the step."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import assert_close, descending, rng, slope

from sfm.agents.objectives.cost import (
    draw_pairs,
    draw_states,
    episode_mean,
    fit_cost,
    gradient_penalty,
    make_cost,
    thinned,
)
from sfm.agents.optim import Trained, adam
from sfm.agents.types import ExpertStates
from sfm.config import CostConfig

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


def test_pairs_are_neighbours_and_stay_within_their_episode():
    obs = np.arange(12, dtype=np.float32).reshape(2, 6, 1)
    now, following = (np.asarray(x).ravel() for x in draw_pairs(KEY, obs, np.array([5, 2]), 500))
    assert set(now) == {0, 1, 2, 3, 4, 6, 7}
    np.testing.assert_array_equal(following, now + 1)


def test_an_episode_without_transitions_is_never_drawn():
    obs = np.arange(9, dtype=np.float32).reshape(3, 3, 1)
    assert set(np.asarray(draw_states(KEY, obs, np.array([0, 2, 0]), 100)).ravel()) == {3, 4}


def test_drawing_takes_memory_for_what_is_drawn_and_no_more():
    """4,096 states of 4 long episodes; a table of draws times states would take 64 MB."""
    shapes = [jax.ShapeDtypeStruct(s, d) for s, d in (((4, 1001, 24), jnp.float32), ((4,), jnp.int32))]
    memory = jax.jit(lambda *a: draw_pairs(KEY, *a, 4096)).lower(*shapes).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 2**20


def test_the_mean_of_an_episode_ignores_padding():
    values = np.array([[1.0, 2.0, 6.0], [1.0, 2.0, np.nan]], np.float32)
    assert episode_mean(values, np.array([3, 2])).tolist() == [3.0, 1.5]


class Plane(eqx.Module):
    """f(x) = <w, x> + b: its slope is |w| everywhere."""

    w: jax.Array
    b: jax.Array

    def __call__(self, x):
        return (x @ self.w + self.b)[..., None]


EXPERT, AGENT = np.array([[0, 0], [2, 0]], np.float32), np.array([[1, 1], [1, 3]], np.float32)


def plane() -> Trained:
    """A plane of slope 1 whose optimizer subtracts the gradient."""
    return descending(Trained.create(Plane(jnp.array([0.6, 0.8]), jnp.zeros(())), adam(1.0)))


def test_the_ipm_loss_and_its_gradient_by_hand():
    """Mean costs 0.6 and 2.2, and a penalty of 10 (1 - 0.4)^2."""
    after, metrics = fit_cost(plane(), CostConfig(), EXPERT, AGENT, KEY)  # pyright: ignore
    assert float(metrics["cost_gap"]) == pytest.approx(1.6)
    assert float(metrics["cost_penalty"]) == pytest.approx(0.36)
    assert float(metrics["cost_loss"]) == pytest.approx(-1.6 + 3.6, abs=1e-5)
    # gradient: (1, 0) - (1, 2) of the means, 20 (1 - 0.4) (0.6, 0.8) of the penalty
    assert_close(after.net.w, np.array([0.6 - 7.2, 0.8 - 7.6], np.float32))
    assert_close(after.net.b, 0.0)


def test_the_js_loss_and_the_entropy_by_hand():
    config = CostConfig(loss="js", penalty=2.0, penalty_norm=0.5, entropy=0.3)
    _, metrics = fit_cost(plane(), config, EXPERT, AGENT, KEY)  # pyright: ignore
    p = 1 / (1 + np.exp(-np.array([0.0, 1.2, 1.4, 3.0])))  # that a state is the policy's
    cross_entropy = -np.log(1 - p[:2]).mean() - np.log(p[2:]).mean()
    entropy = -(p * np.log(p) + (1 - p) * np.log(1 - p)).mean()
    assert float(metrics["cost_loss"]) == pytest.approx(cross_entropy + 2 * 0.25 - 0.3 * entropy, rel=1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "optimistic"])
@pytest.mark.parametrize("loss", ["ipm", "js"])
def test_a_cost_falls_on_the_expert_and_rises_on_the_policy(loss, optimizer):
    config = CostConfig(width=16, loss=loss, optimizer=optimizer, lr=3e-3, decay_updates=300)
    f = make_cost(config, 2, 0, rng())
    step = jax.jit(lambda f, k: fit_cost(f, config, EXPERT, AGENT, k))
    f, metrics = jax.lax.scan(step, f, jax.random.split(KEY, 200))
    gap = np.asarray(metrics["cost_gap"])
    assert gap[-1] > gap[0] + 0.3
    slopes = jax.vmap(jax.grad(lambda x: f.net(x)[0]))(0.5 * (EXPERT + AGENT))
    np.testing.assert_allclose(np.linalg.norm(slopes, axis=-1), 0.4, atol=0.2)


def test_few_demonstrations_are_looked_at_whole():
    demos = ExpertStates(jnp.zeros((2, 10_000, 1)), jnp.array([9999, 5]))
    assert thinned(demos) is demos


@pytest.mark.parametrize(("states", "every"), [(10, 4), (12, 4), (24, 2), (5, 8)])
def test_of_many_demonstrations_states_at_even_distances_are_looked_at(states, every, monkeypatch):
    most = 3 * (states + 1) // every + 1
    monkeypatch.setattr("sfm.agents.objectives.cost.MOST_STATES", most)
    every = math.ceil(3 * (states + 1) / most)
    obs = jnp.arange(3.0 * (states + 1)).reshape(3, states + 1, 1)
    length = np.array([states, states - 2, 1])
    some, count = map(np.asarray, thinned(ExpertStates(obs, jnp.asarray(length)))[:2])
    assert some.shape[1] <= -(-(states + 1) // every) + 1
    assert count.max() < some.shape[1]
    for i in range(3):
        mine = some[i, : count[i], 0]
        expected = np.asarray(obs)[i, : length[i], 0][every // 2 :: every]
        np.testing.assert_array_equal(mine, expected if len(expected) else obs[i, length[i] - 1])
