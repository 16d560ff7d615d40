"""The losses of the base features against their formulas, and that they fall."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DIM, SPEC, assert_close, on_host, random_batch, rng, same, small_sfm

from sfm.agents.objectives.features import Hilbert
from sfm.agents.objectives.sfm import make_features
from sfm.agents.types import Batch

KEY = jax.random.key(0)
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
                s, phi, metrics = f.learn(s, batch)
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
    after, _, metrics = jax.jit(f.learn)(state, batch)
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
        after, _ = jax.lax.scan(lambda x, _: (f.learn(x, batch)[0], None), start, length=1000)
        return jnp.linalg.norm(f.phi(after)(s) - f.phi(after)(g), axis=-1)

    steps = pairs[:, 1] - pairs[:, 0]
    np.testing.assert_allclose(run(f.init(rng())), (1 - 0.8**steps) / (1 - 0.8), atol=0.15)


def test_every_method_is_made_and_has_the_named_shape():
    for method in METHODS:
        config = dataclasses.replace(small_sfm(method).features, depth=3, width=16)
        trunk = make_features(config, SPEC).init(rng())
        shapes = {x.shape[-2:] for x in jax.tree.leaves(trunk)}
        assert {(4, 16), (16, 16), (16, DIM)} <= shapes


def gaussian(a, b, sigma):
    return np.exp(-np.square(a[:, None] - b[None]).sum(-1) / (2 * sigma**2))


@pytest.mark.parametrize("bandwidths", [(0.5,), (0.3, 1.0)])
def test_waves_are_gaussian_kernels_of_their_bandwidths(bandwidths):
    """<phi(s), phi(s')> / d is their mean, to the order of 1 / sqrt(d)."""
    f, waves = features("fourier", dim=20_000, bandwidths=bandwidths)
    states = np.random.default_rng(1).standard_normal((6, SPEC.obs_dim)).astype(np.float32)
    phi = np.asarray(f.phi(waves)(states))
    distance = (2 * SPEC.obs_dim) ** 0.5
    expected = np.mean([gaussian(states, states, distance * b) for b in bandwidths], axis=0)
    np.testing.assert_allclose(phi @ phi.T / phi.shape[1], expected, atol=0.04)


def test_waves_see_as_many_coordinates_as_asked_for():
    """And those of so many coordinates are a kernel of the same distance relative to what they see."""
    f, waves = features("fourier", dim=6_000, coordinates=(1, 2), bandwidths=(0.5, 1.0))
    weight = np.asarray(f.phi(waves).weight)
    each = (weight != 0).sum(0)
    np.testing.assert_array_equal(each, np.resize([1, 2], 6_000))
    assert (weight != 0).mean(1) == pytest.approx(1.5 / SPEC.obs_dim, abs=0.03)  # no coordinate is preferred
    for k, column, width in ((1, 0, 0.5), (2, 1, 0.5), (1, 2, 1.0), (2, 3, 1.0)):
        spread = np.sqrt(np.square(weight[:, column::4]).sum() / (1500 * k))
        assert spread == pytest.approx(1 / (width * (2 * k) ** 0.5), rel=0.05)


@pytest.mark.parametrize("coordinates", [1, 2, 0])
def test_waves_see_each_observation_alike_if_asked_to(coordinates):
    """A pose of seven numbers and one height: half of what a wave sees is the height."""
    spec = SPEC._replace(
        obs_dim=9, observation=("pose",) * 4 + ("height",) + ("pose",) * 4, matched=tuple(range(8))
    )
    alike = {"coordinates": (coordinates,), "state_by": "observation"}
    config = small_sfm("fourier", dim=8_000, bandwidths=(1.0,), **alike)
    weight = np.asarray(make_features(config.features, spec).init(rng()).weight)
    seen = np.square(weight).sum(1) if coordinates == 0 else (weight != 0).sum(1)
    share = seen / seen.sum()
    expected = {1: 1 / 2, 2: (1 / 2 + 1 / 2 * 7 / 13) / 2, 0: 1 / 2}[
        coordinates
    ]  # 2: as first, or after a pose
    assert share[4] == pytest.approx(expected, rel=0.05)
    np.testing.assert_allclose(np.delete(share, 4), (1 - share[4]) / 7, rtol=0.15)


@pytest.mark.parametrize("coordinates", [(), (1, 0)])
def test_steps_are_shares_beyond_thresholds_along_unit_directions(coordinates):
    """Narrow ones: their means are 1 - 2 F(b), and the thresholds b spread like the states."""
    f, steps = features("steps", dim=4_000, bandwidths=(1e-3,), coordinates=coordinates)
    weight, shift = np.asarray(f.phi(steps).weight), np.asarray(f.phi(steps).shift)
    steepness = np.linalg.norm(weight, axis=0)
    np.testing.assert_allclose(steepness, 1e3 / 2**0.5, rtol=1e-5)
    each = (weight != 0).sum(0)
    np.testing.assert_array_equal(each, np.resize([k or SPEC.obs_dim for k in coordinates or (0,)], 4_000))
    threshold = -shift / steepness
    assert threshold.std() == pytest.approx(1.2, rel=0.05)
    states = np.random.default_rng(1).standard_normal((2_000, SPEC.obs_dim)).astype(np.float32)
    beyond = (states @ (weight / steepness) > threshold).mean(0)
    np.testing.assert_allclose(np.asarray(f.phi(steps)(states)).mean(0), 2 * beyond - 1, atol=0.02)


def test_steps_point_to_the_expert_from_far_away():
    """The gap of means grows with the distance of two states, where that of waves comes round again."""
    f, steps = features("steps", dim=2_000, coordinates=(1, 0))
    far = np.linspace(0, 6, 7, dtype=np.float32)[:, None] * np.ones(SPEC.obs_dim, np.float32)
    phi = np.asarray(f.phi(steps)(far))
    gap = np.square(phi - phi[0]).mean(1)
    assert (np.diff(gap) > 0).all()


@pytest.mark.parametrize("method", ["fourier", "steps"])
def test_behaviours_with_equal_means_are_told_apart(method):
    """All mass at 0, or half at -2 and half at 2: a mean of states sees no difference."""
    f, waves = features(method, dim=512)
    still, swinging = np.zeros((2, 200, SPEC.obs_dim), np.float32)
    swinging[::2, 0], swinging[1::2, 0] = -2.0, 2.0
    phi = f.phi(waves)
    gap = np.square(phi(still).mean(0) - phi(swinging).mean(0)).mean()
    assert gap > 0.05
    assert np.square(phi(swinging[:100]).mean(0) - phi(swinging[100:]).mean(0)).mean() < 1e-10


def test_methods_side_by_side_are_each_as_alone():
    batch = moving()
    both, state = features("fourier+fdm")
    after, phi, metrics = jax.jit(both.learn)(state, batch)
    assert phi.shape == (64, 2 * DIM)
    for name, part in zip(("fourier", "fdm"), np.split(np.asarray(phi), 2, -1), strict=True):
        alone, _ = features(name)
        learned, expected, told = jax.jit(alone.learn)(state[name], batch)
        assert_close(part, expected)
        assert_close(after[name], learned)
        for k, v in told.items():
            assert float(metrics[f"{name}/{k}"]) == pytest.approx(float(v), rel=1e-5)
    assert_close(both.phi(state)(batch.obs), phi)
