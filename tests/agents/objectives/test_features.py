"""The losses of the base features against their formulas, and that they fall."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DIM, SPEC, assert_close, on_host, random_batch, random_demos, rng, same, small_sfm

from sfm.agents.objectives.features import Hilbert
from sfm.agents.objectives.sfm import make_features
from sfm.agents.types import Batch

KEY = jax.random.key(0)
DEMOS = random_demos()
METHODS = ["fdm", "idm", "ae", "hr", "random", "adversarial"]


def features(method, **changes):
    f = make_features(small_sfm(method, **{"lr": 3e-3} | changes).features, SPEC)
    return f, f.init(rng())


def moving() -> Batch:
    """Rows with something to predict: the action moves the state."""
    batch = random_batch(count=64)
    push = jnp.concatenate([batch.action, -batch.action], -1)
    return batch._replace(next_obs=batch.obs + push)


@pytest.fixture(scope="module")
def history():
    """method -> (phi at first, the state before, the state after 200 steps, phi returned, metrics)."""
    batch, found = moving(), {}
    for method in METHODS:
        f, start = features(method)

        @jax.jit
        def run(start, f=f):
            def step(s, _):
                s, phi, metrics = f.learn(s, batch, DEMOS)
                return s, (phi[:2], metrics)

            after, (phis, metrics) = jax.lax.scan(step, start, length=200)
            return f.phi(start)(batch.obs), after, phis, metrics, f.phi(after)(100 * batch.obs)

        found[method] = start, *run(start)
    return found


@pytest.mark.parametrize("method", ["fdm", "idm", "ae", "hr"])
def test_a_learned_feature_loss_falls(history, method):
    loss = history[method][4]["feature_loss"]
    assert loss[-10:].mean() < 0.5 * loss[0]


@pytest.mark.parametrize("method", ["random", "adversarial"])
def test_random_and_adversarial_features_are_left_alone(history, method):
    start, _, after, _, metrics, _ = history[method]
    assert same(start, after)
    assert metrics == {}


@pytest.mark.parametrize("method", METHODS)
def test_phi_has_length_sqrt_dim_unless_it_is_a_hilbert_representation(history, method):
    _, at_first, _, _, _, later = history[method]
    lengths = np.linalg.norm(np.concatenate([at_first, later]), axis=-1)
    if method == "hr":
        assert lengths.std() > 0.1
    else:
        np.testing.assert_allclose(lengths, DIM**0.5, rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_learning_returns_phi_before_its_step(history, method):
    _, at_first, _, phis, _, _ = history[method]
    assert_close(phis[0], at_first[:2], atol=1e-5)
    assert same(phis[0], phis[-1]) == (method in ("random", "adversarial"))


@pytest.mark.parametrize("method", ["fdm", "idm", "ae"])
def test_a_head_predicts_what_its_name_says(history, method):
    start, *_, metrics, _ = history[method]
    net = jax.device_get(start.net)
    obs, action, following, *_ = map(np.asarray, moving())
    seen, target = {
        "fdm": ([net.phi(obs), action], following),
        "idm": ([net.phi(obs), net.phi(following)], action),
        "ae": ([net.phi(obs)], obs),
    }[method]
    expected = np.mean((net.head(np.concatenate(seen, -1)) - target) ** 2)
    assert float(metrics["feature_loss"][0]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("expectile", [0.5, 0.9])
def test_the_hilbert_loss_is_the_weighted_error_of_both_twins(expectile):
    f, state = features("hr", hr_expectile=expectile)
    state = state._replace(target=jax.tree.map(lambda x: 1.5 * x, state.target))
    batch = random_batch()
    batch = batch._replace(goal=batch.goal.at[:8].set(batch.obs[:8]))  # eight have arrived
    obs, following, goal = (np.asarray(x) for x in (batch.obs, batch.next_obs, batch.goal))

    def distance(nets, s):
        return np.array([-np.sqrt(np.maximum(((n(s) - n(goal)) ** 2).sum(-1), 1e-6)) for n in nets])

    targets, online = on_host(state.target), on_host(state.phi.net)
    arrived = np.arange(32) < 8
    reward, go_on = np.where(arrived, 0, -1), np.where(arrived, 0, 0.98)
    q = reward + go_on * distance(targets, following)
    advantage = reward + go_on * distance(targets, following).min(0) - distance(targets, obs).mean(0)
    weight = np.where(advantage >= 0, expectile, 1 - expectile)
    expected = (weight * (q - distance(online, obs)) ** 2).mean(-1).sum()
    after, _, metrics = jax.jit(f.learn)(state, batch, DEMOS)
    assert float(metrics["feature_loss"]) == pytest.approx(expected, rel=1e-4)
    moved = jax.tree.map(lambda t, o: t + 0.005 * (o - t), state.target, after.phi.net)
    assert_close(after.target, moved)


def test_hilbert_distance_on_a_chain_is_the_discounted_number_of_steps():
    config = small_sfm("hr", lr=3e-3, hr_discount=0.8, hr_polyak=0.05, width=32).features
    f = Hilbert(config, SPEC)
    pairs = np.array([(s, g) for s in range(4) for g in range(s + 1, 4)])
    states = np.eye(4, dtype=np.float32)
    s, g = states[pairs[:, 0]], states[pairs[:, 1]]
    zero = np.zeros(len(pairs), np.float32)
    batch = Batch(s, np.zeros((6, 2), np.float32), states[pairs[:, 0] + 1], zero, zero, g)

    @jax.jit
    def run(start):
        after, _ = jax.lax.scan(lambda x, _: (f.learn(x, batch, DEMOS)[0], None), start, length=1000)
        return jnp.linalg.norm(f.phi(after)(s) - f.phi(after)(g), axis=-1)

    steps = pairs[:, 1] - pairs[:, 0]
    np.testing.assert_allclose(run(f.init(rng())), (1 - 0.8**steps) / (1 - 0.8), atol=0.15)


def test_every_method_is_made_and_has_the_named_shape():
    for method in METHODS:
        config = dataclasses.replace(small_sfm(method).features, depth=3, width=16)
        trunk = make_features(config, SPEC).init(rng())
        shapes = {x.shape[-2:] for x in jax.tree.leaves(trunk)}
        assert {(4, 16), (16, 16), (16, DIM)} <= shapes


def test_methods_side_by_side_are_each_as_alone():
    batch = moving()
    both, state = features("fourier+fdm")
    after, phi, metrics = jax.jit(both.learn)(state, batch, DEMOS)
    assert phi.shape == (64, 2 * DIM)
    for name, part in zip(("fourier", "fdm"), np.split(np.asarray(phi), 2, -1), strict=True):
        alone, _ = features(name)
        learned, expected, told = jax.jit(alone.learn)(state[name], batch, DEMOS)
        assert_close(part, expected)
        assert_close(after[name], learned)
        for k, v in told.items():
            assert float(metrics[f"{name}/{k}"]) == pytest.approx(float(v), rel=1e-5)
    assert_close(both.phi(state)(batch.obs), phi)
