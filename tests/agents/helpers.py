"""Small worlds and small tools shared by the tests of agents."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sfm.agents.learners import make_learner
from sfm.agents.optim import Trained
from sfm.agents.types import Batch, ExpertStates, Spec
from sfm.config import FeatureConfig, SFMConfig, StochasticConfig, TD3Config, TD7Config

SPEC = Spec(obs_dim=4, action_dim=2, gamma=0.6)
DIM = 3  # of psi, in most tests

LEARNERS = {
    "td3": TD3Config(width=16),
    "td7": TD7Config(width=16, embedding=8),
    "stochastic": StochasticConfig(width=16),
}


def random_batch(key: Any = 0, count: int = 32, spec: Spec = SPEC) -> Batch:
    """Unrelated rows, a quarter of them terminal."""
    ks = jax.random.split(jax.random.key(key) if isinstance(key, int) else key, 6)
    obs, following, goal = (jax.random.normal(k, (count, spec.obs_dim)) for k in ks[:3])
    action = jax.random.uniform(ks[3], (count, spec.action_dim), minval=-1, maxval=1)
    mask = (jnp.arange(count) % 4 > 0).astype(obs.dtype)
    return Batch(obs, action, following, jax.random.normal(ks[4], (count,)), mask, goal)


def random_demos(lengths: tuple[int, ...] = (5, 3), key: int = 9, padding: float = 0.0) -> ExpertStates:
    """One demonstration per length; `padding` fills the rows behind the shorter ones."""
    obs = jax.random.normal(jax.random.key(key), (len(lengths), max(lengths) + 1, SPEC.obs_dim))
    valid = jnp.arange(max(lengths) + 1)[None] <= jnp.array(lengths)[:, None]
    return ExpertStates(jnp.where(valid[..., None], obs, padding), jnp.array(lengths))


def small_sfm(method: str = "random", dim: int = DIM, **changes: Any) -> SFMConfig:
    """Changes of the features and of the objective alike."""
    names = {f.name for f in dataclasses.fields(FeatureConfig)}
    own = {k: changes.pop(k) for k in names & changes.keys()}
    sizes = {"dim": dim, "width": 16, "depth": 2, "head_width": 16}
    return SFMConfig(features=FeatureConfig(method=method, **sizes | own), **changes)  # pyright: ignore


def make(kind: str, spec: Spec = SPEC, **changes: Any) -> tuple[Any, Any]:
    """A learner and its first state. Not jitted: the operations are compiled once for all tests."""
    learner = make_learner(dataclasses.replace(LEARNERS[kind], **changes), spec)
    return learner, learner.init(jax.random.key(0), DIM)


def doubled(tree: Any) -> Any:
    """The same numbers in double precision; to be called where it is enabled."""
    return jax.tree.map(lambda x: x.astype(jnp.float64) if x.dtype == jnp.float32 else x, tree)


def descending(trained: Trained) -> Trained:
    """Plain descent with rate 1: one step subtracts the gradient."""
    return Trained.create(trained.net, optax.sgd(1.0))


def minus(a: Any, b: Any) -> Any:
    return jax.tree.map(jnp.subtract, a, b)


def along(gradient: Any, direction: Any) -> float:
    return float(sum(jnp.vdot(g, v) for g, v in zip(*map(jax.tree.leaves, (gradient, direction)), strict=True)))


def random_like(tree: Any, seed: int = 3) -> Any:
    leaves, treedef = jax.tree.flatten(tree)
    ks = jax.random.split(jax.random.key(seed), len(leaves))
    return treedef.unflatten([jax.random.normal(k, x.shape, x.dtype) for k, x in zip(ks, leaves, strict=True)])


def slope(f: Any, at: Any, direction: Any, eps: float = 1e-6) -> float:
    """The derivative of f along a direction, by central differences."""
    up, down = (jax.tree.map(lambda x, v, e=e: x + e * v, at, direction) for e in (eps, -eps))
    return float((f(up) - f(down)) / (2 * eps))


def same(a: Any, b: Any) -> bool:
    """Bit for bit."""
    pairs = zip(*map(jax.tree.leaves, (a, b)), strict=True)
    return all(np.array_equal(np.asarray(x), np.asarray(y)) for x, y in pairs)


def assert_close(a: Any, b: Any, **tolerance: float) -> None:
    for x, y in zip(*map(jax.tree.leaves, (a, b)), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), **{"rtol": 1e-5, "atol": 1e-6} | tolerance)
