"""Networks with explicit initialisation.

Every module computes in NumPy when its arrays are NumPy arrays and in JAX otherwise, so that one
definition serves training on the device and acting on the host without a device round trip.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

__all__ = [
    "MLP",
    "Critic",
    "Linear",
    "all_twins",
    "avg_l1_norm",
    "ensemble",
    "first",
    "joined",
    "namespace",
    "orthogonal",
    "over_twins",
    "scaled_l2_norm",
    "twin_value",
    "twins_of",
]


def namespace(x: Any) -> Any:
    """numpy for NumPy arrays, jax.numpy for everything else."""
    return np if isinstance(x, np.ndarray) else jnp


def relu(x):
    return namespace(x).maximum(x, 0)


def elu(x):
    xp = namespace(x)
    return xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0)))


def tanh(x):
    return namespace(x).tanh(x)


ACTIVATIONS = {"relu": relu, "elu": elu, "tanh": tanh}


def avg_l1_norm(x, eps: float = 1e-6):
    """x / mean |x_j|."""
    xp = namespace(x)
    return x / xp.maximum(xp.abs(x).mean(-1, keepdims=True), eps)


def scaled_l2_norm(x, eps: float = 1e-6):
    """x / ||x|| * sqrt(dim): entries of order one."""
    xp = namespace(x)
    return x * (x.shape[-1] ** 0.5) / (xp.sqrt((x * x).sum(-1, keepdims=True) + 1e-12) + eps)


@functools.partial(jax.jit, static_argnums=(1, 2))  # traced once per shape
def orthogonal(key: Array, rows: int, columns: int) -> Array:
    """A random matrix with orthonormal rows or columns, whichever are fewer.

    Gram-Schmidt in plain JAX: several LAPACK factorisations inside one compiled function can wait for each
    other for ever where XLA has few threads.
    """
    short = min(rows, columns)
    q = jax.random.normal(key, (max(rows, columns), short))

    def orthogonalise(j: Array, q: Array) -> Array:
        v = q[:, j] / jnp.linalg.norm(q[:, j])
        later = jnp.where(jnp.arange(short) > j, v @ q, 0.0)
        return (q - jnp.outer(v, later)).at[:, j].set(v)

    q = jax.lax.fori_loop(0, short, orthogonalise, q)
    q = 1.5 * q - 0.5 * q @ (q.T @ q)  # a Newton step removes what rounding has left
    return q if rows >= columns else q.T


def _kernel(key: Array, fan_in: int, fan_out: int, init: str) -> Array:
    if init == "orthogonal":
        return orthogonal(key, fan_in, fan_out)
    return jax.nn.initializers.lecun_normal()(key, (fan_in, fan_out), jnp.float32)


class Linear(eqx.Module):
    """x [..., in] -> [..., out]."""

    weight: Array
    bias: Array

    def __init__(self, fan_in: int, fan_out: int, init: str, key: Array):
        self.weight = _kernel(key, fan_in, fan_out, init)
        self.bias = jnp.zeros(fan_out, jnp.float32)

    def __call__(self, x):
        return x @ self.weight + self.bias


class LayerNorm(eqx.Module):
    """Zero mean and unit variance over the last axis, then a learned scale and shift."""

    scale: Array
    shift: Array

    def __init__(self, size: int):
        self.scale, self.shift = jnp.ones(size, jnp.float32), jnp.zeros(size, jnp.float32)

    def __call__(self, x):
        centred = x - x.mean(-1, keepdims=True)
        spread = namespace(x).sqrt((centred * centred).mean(-1, keepdims=True) + 1e-6)
        return centred / spread * self.scale + self.shift


class MLP(eqx.Module):
    """Hidden layers with one activation, a linear output.

    `normed`: LayerNorm before every activation. `stem`: the first layer is LayerNorm then tanh.
    """

    layers: tuple[Linear, ...]
    norms: tuple[LayerNorm | None, ...]
    activation: str = eqx.field(static=True)
    stem: bool = eqx.field(static=True)

    def __init__(
        self,
        sizes: tuple[int, ...],
        key: Array,
        *,
        activation: str = "relu",
        init: str = "orthogonal",
        normed: bool = False,
        stem: bool = False,
    ):
        keys = jax.random.split(key, len(sizes) - 1)
        pairs = zip(sizes[:-1], sizes[1:], keys, strict=True)
        self.layers = tuple(Linear(i, o, init, k) for i, o, k in pairs)
        has_norm = [normed or (stem and i == 0) for i in range(len(sizes) - 2)]
        self.norms = tuple(LayerNorm(n) if h else None for n, h in zip(sizes[1:-1], has_norm, strict=True))
        self.activation, self.stem = activation, stem

    def __call__(self, x):
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=False)):
            x = layer(x)
            x = x if norm is None else norm(x)
            x = tanh(x) if self.stem and i == 0 else ACTIVATIONS[self.activation](x)
        return self.layers[-1](x)


def ensemble(make, key: Array, size: int = 2):
    """`size` independent networks with stacked parameters; make: key -> network."""
    return jax.vmap(make)(jax.random.split(key, size))


def first(nets):
    """The first member of an ensemble."""
    return jax.tree.map(lambda x: x[0], nets)


def joined(*parts):
    """Concatenate over the last axis."""
    return namespace(parts[0]).concatenate(parts, axis=-1)


class Critic(eqx.Module):
    """psi(s, a) [..., d]."""

    mlp: MLP

    def __call__(self, obs, action):
        return self.mlp(joined(obs, action))


def all_twins(critics, *inputs: Array) -> Array:
    """Every member of an ensemble on the same inputs, [E, B, d]."""
    return jax.vmap(lambda critic: critic(*inputs))(critics)


def twins_of(critics):
    """(obs, action) -> [E, B, d]."""
    return lambda *inputs: all_twins(critics, *inputs)


def over_twins(psi: Array, how: str) -> Array:
    """[E, B, d] -> [B, d] by the first twin, the mean or the minimum."""
    return {"first": lambda p: p[0], "mean": lambda p: p.mean(0), "min": lambda p: p.min(0)}[how](psi)


def twin_value(critics, how: str, *inputs: Array) -> Array:
    """[B, d]; only the first twin is evaluated where only it is used."""
    return first(critics)(*inputs) if how == "first" else over_twins(all_twins(critics, *inputs), how)
