"""Networks, initialised on the host, where nothing has to be compiled for it.

Every module computes in NumPy when its arrays are NumPy arrays and in JAX otherwise, so that one
definition serves training on the device and acting on the host without a device round trip.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


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


def orthogonal(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A random matrix with orthonormal rows or columns, whichever are fewer."""
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q *= np.sign(np.diagonal(r))  # without this not every such matrix is equally likely
    return (q if rows >= columns else q.T).astype(np.float32, order="C")


def lecun(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Independent entries of variance 1 / rows, from a normal distribution cut off at two of its spreads."""
    x = rng.standard_normal((rows, columns))
    while (far := np.abs(x) > 2).any():
        x[far] = rng.standard_normal(far.sum())
    return (x / (CUT_SPREAD * rows**0.5)).astype(np.float32)


CUT_SPREAD = 0.87962566  # of a standard normal distribution cut off at 2
INITS = {"orthogonal": orthogonal, "lecun": lecun}


class Linear(eqx.Module):
    """x [..., in] -> [..., out]; x may come in parts, to be joined over the last axis.

    In JAX parts are multiplied apart: gradients then are computed only for those that need one, and twins
    share the product with a part that is the same for both.
    """

    weight: Array | np.ndarray
    bias: Array | np.ndarray

    def __init__(self, fan_in: int, fan_out: int, init: str, rng: np.random.Generator):
        self.weight = INITS[init](rng, fan_in, fan_out)
        self.bias = np.zeros(fan_out, np.float32)

    def __call__(self, *parts) -> Any:
        if namespace(parts[0]) is np:
            return joined(*parts) @ self.weight + self.bias
        ends = list(itertools.accumulate((x.shape[-1] for x in parts), initial=0))
        rows = [self.weight[i:j] for i, j in itertools.pairwise(ends)]
        return sum(x @ w for x, w in zip(parts, rows, strict=True)) + self.bias


class LayerNorm(eqx.Module):
    """Zero mean and unit variance over the last axis, then a learned scale and shift."""

    scale: Array | np.ndarray
    shift: Array | np.ndarray

    def __init__(self, size: int):
        self.scale, self.shift = np.ones(size, np.float32), np.zeros(size, np.float32)

    def __call__(self, x):
        centred = x - x.mean(-1, keepdims=True)
        spread = namespace(x).sqrt((centred * centred).mean(-1, keepdims=True) + 1e-6)
        return centred / spread * self.scale + self.shift


class MLP(eqx.Module):
    """Hidden layers with one activation, a linear output.

    The input may come in parts, see `Linear`. `normed`: LayerNorm before every activation. `stem`: the first
    layer is LayerNorm then tanh.
    """

    layers: tuple[Linear, ...]
    norms: tuple[LayerNorm | None, ...]
    activation: str = eqx.field(static=True)
    stem: bool = eqx.field(static=True)

    def __init__(
        self,
        sizes: tuple[int, ...],
        rng: np.random.Generator,
        *,
        activation: str = "relu",
        init: str = "orthogonal",
        normed: bool = False,
        stem: bool = False,
    ):
        self.layers = tuple(Linear(i, o, init, rng) for i, o in itertools.pairwise(sizes))
        has_norm = [normed or (stem and i == 0) for i in range(len(sizes) - 2)]
        self.norms = tuple(LayerNorm(n) if h else None for n, h in zip(sizes[1:-1], has_norm, strict=True))
        self.activation, self.stem = activation, stem

    def __call__(self, *x) -> Any:
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=False)):
            h = layer(*x)
            h = h if norm is None else norm(h)
            x = (tanh(h) if self.stem and i == 0 else ACTIVATIONS[self.activation](h),)
        return self.layers[-1](*x)


def stacked(trees: Sequence[Any]) -> Any:
    """Trees of NumPy arrays as one, each array [len(trees), ...]."""
    return jax.tree.map(lambda *arrays: np.stack(arrays), *trees)


def ensemble(make: Callable[[], Any], size: int = 2):
    """`size` networks with stacked parameters."""
    return stacked([make() for _ in range(size)])


def first(nets):
    """The first member of an ensemble."""
    return jax.tree.map(lambda x: x[0], nets)


def joined(*parts):
    """Concatenate over the last axis."""
    if len(parts) == 1:
        return parts[0]
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
