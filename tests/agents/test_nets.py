"""Initialisations, normalisations and ensembles against their formulas.

Most is checked on the host, in NumPy; one test shows that the device computes the same.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import rng

from sfm.agents.nets import (
    MLP,
    LayerNorm,
    Linear,
    all_twins,
    avg_l1_norm,
    elu,
    ensemble,
    first,
    over_twins,
    relu,
    scaled_l2_norm,
    twin_value,
)

X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


MLPS = {"elu": {"activation": "elu"}, "stem": {"stem": True}, "normed": {"normed": True}}


@functools.cache
def mlp(kind):
    return MLP((3, 8, 8, 2), rng(), init="lecun", **MLPS[kind])


@pytest.mark.parametrize(("fan_in", "fan_out"), [(8, 32), (32, 8), (64, 64)])
def test_orthogonal_kernels_have_orthonormal_rows_or_columns(fan_in, fan_out):
    layer = Linear(fan_in, fan_out, "orthogonal", rng())
    w = layer.weight if fan_in >= fan_out else layer.weight.T
    np.testing.assert_allclose(w.T @ w, np.eye(min(fan_in, fan_out)), atol=1e-5)
    assert not layer.bias.any()


def test_lecun_kernels_have_variance_one_over_fan_in():
    layer = Linear(100, 1000, "lecun", rng())
    assert layer.weight.var() == pytest.approx(1 / 100, rel=0.02)
    assert layer.weight.mean() == pytest.approx(0, abs=1e-3)
    assert not layer.bias.any()


def test_layer_norm_has_zero_mean_and_unit_variance_before_scale_and_shift():
    x = 3 + 5 * np.random.default_rng(0).normal(size=(4, 64))
    norm = jax.device_get(LayerNorm(64))
    y = norm(x)
    np.testing.assert_allclose(y.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(y.var(-1), 1, rtol=1e-5)
    moved = jax.tree.map(lambda p: p + np.arange(64), norm)
    np.testing.assert_allclose(moved(x), y * (1 + np.arange(64)) + np.arange(64), rtol=1e-5, atol=1e-5)


def test_a_layer_joins_its_inputs_parts_without_gradients_for_those_that_need_none():
    layer = Linear(3, 4, "lecun", rng())
    whole = X @ layer.weight
    np.testing.assert_allclose(layer(X[:, :1], X[:, 1:]), whole, rtol=1e-5)
    np.testing.assert_allclose(layer(jnp.array(X[:, :1]), jnp.array(X[:, 1:])), whole, rtol=1e-4, atol=1e-6)
    products = str(jax.make_jaxpr(jax.grad(lambda x: layer(x, jnp.array(X[:, 1:])).sum()))(X[:, :1]))
    assert products.count("dot_general") == 3  # each part forward, one of them back


def test_avg_l1_norm_divides_by_the_mean_absolute_value():
    np.testing.assert_allclose(avg_l1_norm(np.array([[1.0, -3.0], [0.5, 0.0]])), [[0.5, -1.5], [2.0, 0.0]])
    np.testing.assert_allclose(avg_l1_norm(np.array([1e-7, -1e-7])), [0.1, -0.1])  # by eps at the least
    assert not avg_l1_norm(np.zeros(3)).any()


def test_scaled_l2_norm_gives_length_sqrt_dim():
    np.testing.assert_allclose(np.linalg.norm(scaled_l2_norm(X), axis=-1), 3**0.5, rtol=1e-5)
    slope = jax.jit(jax.grad(lambda z: scaled_l2_norm(z).sum()))(jnp.zeros(3))
    assert np.isfinite(slope).all()


def test_an_mlp_is_its_written_out_composition():
    net = mlp("elu")
    a, b, c = net.layers
    np.testing.assert_allclose(net(X), c(elu(b(elu(a(X))))), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(elu(np.array([-2.0, 0.0, 3.0])), [np.exp(-2) - 1, 0, 3])


def test_a_stem_is_layer_norm_then_tanh():
    net = mlp("stem")
    (a, b, c), (norm, nothing) = net.layers, net.norms
    assert nothing is None
    np.testing.assert_allclose(net(X), c(relu(b(np.tanh(norm(a(X)))))), rtol=1e-5, atol=1e-6)


def test_a_normed_mlp_has_layer_norm_before_every_activation():
    net = mlp("normed")
    (a, b, c), (one, two) = net.layers, net.norms
    np.testing.assert_allclose(net(X), c(relu(two(b(relu(one(a(X))))))), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", MLPS)
def test_host_and_device_compute_the_same(kind):
    net = mlp(kind)
    on_host = net(X)
    assert (type(on_host), on_host.dtype) == (np.ndarray, np.float32)
    np.testing.assert_allclose(on_host, jax.jit(lambda net, x: net(x))(net, X), rtol=1e-5, atol=1e-6)


def test_twins_are_independent_and_reduced_as_named():
    twins = ensemble(functools.partial(MLP, (3, 8, 2), rng(), init="lecun"))
    a, b = first(twins)(X), jax.tree.map(lambda p: p[1], twins)(X)
    assert np.abs(a - b).min() > 1e-4
    expected = {"first": a, "mean": (a + b) / 2, "min": np.minimum(a, b)}
    np.testing.assert_allclose(jax.jit(all_twins)(twins, X), [a, b], rtol=1e-5, atol=1e-6)
    for how, value in expected.items():
        np.testing.assert_array_equal(over_twins(np.stack([a, b]), how), value)
        on_device = jax.jit(twin_value, static_argnums=1)(twins, how, X)
        np.testing.assert_allclose(on_device, value, rtol=1e-5, atol=1e-6)
