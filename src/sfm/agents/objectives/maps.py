"""Base features that are not learned: they tell distributions of states apart, where a mean cannot."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.optim import zeros
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec
from sfm.config import FeatureConfig

THRESHOLDS = 1.2  # spread of those of steps, where states have a spread of 1
NEAR = 2.0  # a landmark's feature at the landmark, so that it varies about as much as a step
LEAST_SPREAD = 0.1  # of what is demonstrated, for the width of landmarks: some numbers never change there


class Waves(eqx.Module):
    """phi(s) = sqrt(2) cos(W s + b): random Fourier features (Rahimi and Recht 2007).

    <phi(s), phi(s')> / d is about the mean of Gaussian kernels, one for each bandwidth. So equal means of phi
    are equal distributions of states, as far as the kernels can tell, and not only equal mean states.
    """

    weight: Array | np.ndarray
    phase: Array | np.ndarray

    def __call__(self, obs: Array) -> Array:
        return 2**0.5 * jnp.cos(obs @ self.weight + self.phase)


class Steps(eqx.Module):
    """phi(s) = tanh(W s + b): soft steps along random directions.

    The mean of a step tells which share of states lies beyond its threshold. So equal means are equal
    distributions along every direction; the gap is about a sliced Cramer distance. Unlike a wave a step does
    not come round again: however far away a state is, the witness points to where the expert has more.
    """

    weight: Array | np.ndarray
    shift: Array | np.ndarray

    def __call__(self, obs: Array) -> Array:
        return jnp.tanh(obs @ self.weight + self.shift)


def make_waves(config: FeatureConfig, spec: Spec, rng: np.random.Generator) -> Waves:
    seen, sees, width = _sight(config, spec, rng)
    direction = seen * rng.standard_normal(seen.shape)
    distance = (2 * sees) ** 0.5  # of two standardised states, root mean square
    weight = direction / (width * distance)
    return Waves(weight.astype(np.float32), rng.uniform(0, 2 * np.pi, config.dim).astype(np.float32))


def make_steps(config: FeatureConfig, spec: Spec, rng: np.random.Generator) -> Steps:
    seen, _, width = _sight(config, spec, rng)
    direction = seen * rng.standard_normal(seen.shape)
    steepness = 1 / (width * 2**0.5)  # that distance along one direction
    weight = steepness * direction / np.linalg.norm(direction, axis=0)
    shift = -steepness * THRESHOLDS * rng.standard_normal(config.dim)
    return Steps(weight.astype(np.float32), shift.astype(np.float32))


def _sight(
    config: FeatureConfig, spec: Spec, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each feature sees of each coordinate, [o, d]; how many coordinates it sees and its width, [d]."""
    shape = o, d = spec.matched_dim, config.dim
    counts = [min(k, o) or o for k in config.coordinates or (o,)]
    sees = np.resize(counts, d)
    odds = _odds(config, spec)[:, None]
    drawn = (rng.standard_exponential(shape) / odds).argsort(0).argsort(0) < sees  # without replacement
    seen = np.where(sees == o, np.sqrt(odds), drawn)
    width = np.resize(np.repeat(config.bandwidths, len(counts)), d)  # every pair of both comes in turn
    return seen, sees, width


def _odds(config: FeatureConfig, spec: Spec) -> np.ndarray:
    """What each number of a state counts, [o], on average 1."""
    odds = spec.portion if config.state_by == "observation" else np.ones(spec.matched_dim)
    return odds / odds.mean()


class Places(NamedTuple):
    """phi_k(s) = 2 / (1 + |s - e_k|^2 / r_k^2): how near a state is to landmark e_k."""

    at: Array  # [d, o], the landmarks e
    radius: Array  # [d], r
    size: Array  # [o], by which each number of a state is multiplied

    def __call__(self, obs: Array) -> Array:
        x, e = obs * self.size, self.at * self.size
        square = jnp.square(x).sum(-1, keepdims=True) + jnp.square(e).sum(-1) - 2 * x @ e.T
        return NEAR / (1 + jnp.maximum(square, 0.0) / jnp.square(self.radius))


class Landmarks:
    """How near a state is to each of d states of the demonstrations, which are evenly spaced in time.

    The mean of one tells how much time is spent near that landmark. So with equal means the policy goes
    through all of what is demonstrated, each part as long as the expert does, and with all of the body at
    once: a limp whose legs each move as the expert's do, but not together, is far from every landmark. The
    kernel falls off like 1 / distance^2, so that the witness points to the expert from far away too.

    Landmarks are standardised with the newest moments, so they move a little at every update.
    """

    def __init__(self, config: FeatureConfig, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator) -> Places:
        d, size = self.config.dim, np.sqrt(_odds(self.config, self.spec)).astype(np.float32)
        return Places(zeros(d, len(size)), zeros(d) + 1, size)  # pyright: ignore[reportArgumentType]

    def phi(self, f: Places) -> Callable[[Array], Array]:
        return f

    def learn(self, f: Places, batch: Batch, demos: ExpertStates) -> tuple[Places, Array, Metrics]:
        f = self.placed(f, demos)
        return f, f(batch.obs), {}

    def placed(self, f: Places, demos: ExpertStates) -> Places:
        """At states of these demonstrations. Widths are in units of the root mean square distance of two."""
        d, ends = self.config.dim, jnp.cumsum(demos.length + 1)
        nth = ((jnp.arange(d) + 0.5) / d * ends[-1]).astype(jnp.int32)  # of all states, one after another
        which = jnp.searchsorted(ends, nth, side="right")
        at = demos.obs[which, nth - (ends - demos.length - 1)[which]]
        distance = jnp.sqrt(2 * ((at.var(0) + LEAST_SPREAD**2) * jnp.square(f.size)).sum())
        return f._replace(at=at, radius=np.resize(self.config.bandwidths, d).astype(np.float32) * distance)
