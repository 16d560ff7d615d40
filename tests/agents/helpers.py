"""Small worlds and small tools shared by the tests of agents."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sfm.agents.learners import make_learner
from sfm.agents.learners.base import CriticLoss, td_loss
from sfm.agents.optim import Trained
from sfm.agents.types import Batch, Context, ExpertStates, Spec
from sfm.config import FeatureConfig, SFMConfig, StochasticConfig, TD3Config, TD7Config

SPEC = Spec(obs_dim=4, action_dim=2, gamma=0.6)
DIM = 3  # of psi, in most tests

LEARNERS = {
    "td3": TD3Config(width=16),
    "td7": TD7Config(width=16, embedding=8),
    "stochastic": StochasticConfig(width=16),
}


def rng() -> np.random.Generator:
    """For the first networks of a test."""
    return np.random.default_rng(0)


def random_batch(seed: int = 0, count: int = 32) -> Batch:
    """Unrelated rows, a quarter of them terminal."""
    rng = np.random.default_rng(seed)
    obs, following, goal = rng.normal(size=(3, count, SPEC.obs_dim))
    action, mask = rng.uniform(-1, 1, (count, SPEC.action_dim)), np.arange(count) % 4 > 0
    return Batch(*map(number, (obs, action, following, rng.normal(size=count), mask, goal)))


def number(x: Any) -> jax.Array:
    """In the precision that is enabled."""
    return jnp.asarray(np.asarray(x, np.float64 if jax.config.jax_enable_x64 else np.float32))


def random_demos(lengths: tuple[int, ...] = (5, 3), padding: float = 0.0) -> ExpertStates:
    """One demonstration per length; `padding` fills the rows behind the shorter ones."""
    obs = np.random.default_rng(9).normal(size=(len(lengths), max(lengths) + 1, SPEC.obs_dim))
    obs[np.arange(max(lengths) + 1)[None] > np.array(lengths)[:, None]] = padding
    return ExpertStates(number(obs), jnp.array(lengths, jnp.int32))


def context(batch: Batch | None = None, **others: Any) -> Context:
    """At step 1, with what is given and random rows for the rest."""
    batch = random_batch() if batch is None else batch
    usual = {"recent": batch, "demos": random_demos(), "step": jnp.array(1), "key": jax.random.key(0)}
    return Context(batch, **usual | others)


def regression(batch: Batch, cumulant: Any, twins: str = "mean") -> CriticLoss:
    """The loss of critics that regress on `cumulant + gamma * bootstrap`."""
    return lambda critics: td_loss(critics, batch, cumulant, twins)


def small_sfm(method: str = "random", dim: int = DIM, **changes: Any) -> SFMConfig:
    """Changes of the features and of the objective alike."""
    names = {f.name for f in dataclasses.fields(FeatureConfig)}
    own = {k: changes.pop(k) for k in names & changes.keys()}
    sizes = {"dim": dim, "width": 16, "depth": 2, "head_width": 16}
    return SFMConfig(features=FeatureConfig(method=method, **sizes | own), **changes)  # pyright: ignore


def make(kind: str, spec: Spec = SPEC, **changes: Any) -> tuple[Any, Any]:
    """A learner and its first state."""
    learner = make_learner(dataclasses.replace(LEARNERS[kind], **changes), spec)
    return learner, learner.init(rng(), DIM)


def doubled(tree: Any) -> Any:
    """The same numbers in double precision; to be called where it is enabled."""
    return jax.tree.map(lambda x: x.astype(jnp.float64) if x.dtype == jnp.float32 else x, tree)


def descending(trained: Trained) -> Trained:
    """Plain descent with rate 1: one step subtracts the gradient."""
    return Trained.create(trained.net, optax.sgd(1.0))


def minus(a: Any, b: Any) -> Any:
    return jax.tree.map(jnp.subtract, a, b)


def along(gradient: Any, direction: Any) -> float:
    return float(
        sum(jnp.vdot(g, v) for g, v in zip(*map(jax.tree.leaves, (gradient, direction)), strict=True))
    )


def random_like(tree: Any, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape).astype(x.dtype)), tree)


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


def on_host(ensemble: Any) -> list[Any]:
    """The members of an ensemble, computing in NumPy."""
    stacked = jax.device_get(ensemble)
    return [jax.tree.map(lambda x, i=i: x[i], stacked) for i in range(len(jax.tree.leaves(stacked)[0]))]


def bootstrap(learner: Any, state: Any, batch: Batch, twins: str = "mean", seed: int = 1) -> np.ndarray:
    """What the learner's critic loss adds to the cumulant: gamma * mask * psi_target(s', a')."""

    @jax.jit
    def run(state, batch, key):
        seen = []

        def loss(critics):
            seen.append(critics.bootstrap(twins))
            return critics.psi(batch.obs, batch.action).sum(), seen[0]

        learner.critic_step(state, batch, loss, key)
        return seen[0]

    return np.asarray(run(state, batch, jax.random.key(seed)))
