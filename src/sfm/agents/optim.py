"""A network with its optimizer, target averaging, and a debiased moving average."""

import functools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

Net = TypeVar("Net")


@functools.cache
def adam(
    lr: float, final: float | None = None, steps: int = 0, optimistic: bool = False
) -> optax.GradientTransformation:
    """Adam, with a linear fall of the rate from `lr` to `final` over `steps` if given; or its optimistic
    form, which steps by rate * (2 r_t - r_{t-1}) where Adam steps by rate * r_t (and r_0 = r_1).

    Cached, so that equal settings give the same object and hence equal tree structures. Over the parameters
    as one vector: a kernel per network instead of one per array takes a fifth less time to compile.
    """
    rate = lr if final is None else optax.linear_schedule(lr, final, steps)
    form = functools.partial(optax.optimistic_adam_v2, nesterov=False) if optimistic else optax.adam
    return optax.flatten(form(rate, b1=0.9, b2=0.999, eps=1e-8))


class Trained(eqx.Module, Generic[Net]):
    """A network and the state of its optimizer."""

    net: Net
    opt: Any
    tx: optax.GradientTransformation = eqx.field(static=True)

    @classmethod
    def create(cls, net: Net, tx: optax.GradientTransformation) -> "Trained[Net]":
        return cls(net, jax.jit(tx.init)(net), tx)  # pyright: ignore[reportArgumentType]

    def holding(self, net: Net) -> "Trained[Net]":
        """Another network of the same form in place of this one."""
        return Trained(net, self.opt, self.tx)

    def restarted(self) -> "Trained[Net]":
        """The same network with a new optimizer."""
        return Trained.create(self.net, self.tx)

    def step(self, loss: Callable[[Net], tuple[Array, Any]]) -> tuple["Trained[Net]", Array, Any]:
        """One step down `loss(net) -> (scalar, aux)`. Returns (trained, loss, aux)."""
        (value, aux), gradient = jax.value_and_grad(loss, has_aux=True)(self.net)
        return self.moved(gradient), value, aux

    def moved(self, gradient: Net) -> "Trained[Net]":
        """One step down this gradient."""
        updates, opt = self.tx.update(gradient, self.opt, self.net)  # pyright: ignore
        return Trained(optax.apply_updates(self.net, updates), opt, self.tx)  # pyright: ignore


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    """On the host, where nothing has to be compiled for it."""
    return np.zeros(shape, dtype)  # pyright: ignore[reportReturnType]


def polyak(target: Net, online: Net, rate: float) -> Net:
    return jax.tree.map(lambda t, o: t + rate * (o - t), target, online)


def copy(net: Net) -> Net:
    """Fresh arrays: donated arguments must not alias."""
    return jax.tree.map(lambda x: x.copy(), net)


class Average(NamedTuple):
    """An exponential moving average that knows how much of it is real data."""

    total: Array  # [...]
    weight: Array  # [], 1 - decay**n after n updates

    @classmethod
    def zeros(cls, *shape: int) -> "Average":
        return cls(zeros(*shape), zeros())

    def add(self, value: Array, decay: float) -> "Average":
        total = decay * self.total + (1 - decay) * value
        return Average(total, decay * self.weight + (1 - decay))

    @property
    def mean(self) -> Array:
        """The debiased average; zero before the first update."""
        return self.total / jnp.maximum(self.weight, 1e-8)


class Moments(NamedTuple):
    """Running mean and spread of rows, to standardise them; moving averages that know how much is real data.

    The mean is kept as the first row and what differs from it, and the spread around the mean itself: numbers
    far from zero would lose both in float32.
    """

    first: Array  # [size]
    rest: Array  # [size], the mean less `first`
    variance: Array  # [size]
    weight: Array  # [], 1 - decay**n after n updates

    @classmethod
    def zeros(cls, size: int) -> "Moments":
        return cls(zeros(size), zeros(size), zeros(size), zeros())

    @classmethod
    def of(cls, mean: Array, spread: Array) -> "Moments":
        """With this mean and spread, each [size]."""
        return cls(mean, jnp.zeros_like(mean), jnp.square(spread), jnp.ones(()))

    def add(self, rows: Array, decay: float = 0.9995) -> "Moments":
        """Take in rows [B, size]."""
        first = jnp.where(self.weight > 0, self.first, rows[0])
        weight = decay * self.weight + (1 - decay)
        share = (1 - decay) / weight  # of these rows; all of it at first
        mean = (rows - first).mean(0)
        variance = jnp.square(rows - first - mean).mean(0)
        moved = mean - self.rest
        before = self.variance + share * jnp.square(moved)
        return Moments(first, self.rest + share * moved, (1 - share) * before + share * variance, weight)

    def begun(self, rows: Array) -> "Moments":
        """With these rows [..., size] as the first, if there were none."""
        first = self.add(rows.reshape(-1, rows.shape[-1]))
        return jax.tree.map(lambda old, new: jnp.where(self.weight > 0, old, new), self, first)

    def mean_and_spread(self) -> tuple[Array, Array]:
        """Each [size]; (0, 1) before the first rows."""
        spread = jnp.sqrt(jnp.maximum(self.variance, 1e-6))
        return self.first + self.rest, jnp.where(self.weight > 0, spread, 1.0)

    def standardise(self, x: Array) -> Array:
        """x [..., size] with zero mean and unit spread, clipped at `standardised`'s limit."""
        return standardised(x - self.first, self.rest, self.mean_and_spread()[1])


def standardised(x, mean, spread):
    """(x - mean) / spread, clipped to [-10, 10]; NumPy or JAX."""
    return ((x - mean) / spread).clip(-10, 10)
