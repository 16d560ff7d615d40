"""Base features phi(s) in R^d and the losses that train them (section 4.2 of the paper)."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.nets import MLP, ensemble, first, joined, scaled_l2_norm
from sfm.agents.optim import Trained, adam, copy, polyak
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec
from sfm.config import FeatureConfig


class Features(Protocol):
    """phi never receives a gradient from psi or the actor: they see it through `stop_gradient` only."""

    def init(self, rng: np.random.Generator) -> Any: ...

    def phi(self, f: Any) -> Callable[[Array], Array]:
        """The network: [..., o] -> [..., d]."""
        ...

    def learn(self, f: Any, batch: Batch, demos: ExpertStates) -> tuple[Any, Array, Metrics]:
        """One step. Returns (state, phi(s) [B, d] before it, metrics); phi(s) is computed once."""
        ...


class Trunk(eqx.Module):
    """phi(s) = sqrt(d) * MLP(s) / ||MLP(s)||, or the bare MLP."""

    mlp: MLP
    normed: bool = eqx.field(static=True)

    def __call__(self, obs: Array) -> Array:
        x = self.mlp(obs)
        return scaled_l2_norm(x) if self.normed else x


def make_trunk(config: FeatureConfig, spec: Spec, rng: np.random.Generator, *, normed: bool = True) -> Trunk:
    sizes = (spec.matched_dim, *(config.width,) * config.depth, config.dim)
    return Trunk(MLP(sizes, rng, stem=True), normed)


class Fixed:
    """Features that are never trained: a random network, waves or steps."""

    def __init__(self, config: FeatureConfig, spec: Spec, make: Callable[..., Any] = make_trunk):
        self.config, self.spec, self.make = config, spec, make

    def init(self, rng: np.random.Generator) -> Any:
        return self.make(self.config, self.spec, rng)

    def phi(self, f: Any) -> Any:
        return f

    def learn(self, f: Any, batch: Batch, demos: ExpertStates) -> tuple[Any, Array, Metrics]:
        return f, f(batch.obs), {}


class SideBySide:
    """Several methods at once: phi is theirs, one after another."""

    def __init__(self, parts: dict[str, Features]):
        self.parts = parts

    def init(self, rng: np.random.Generator) -> dict[str, Any]:
        return {name: part.init(rng) for name, part in self.parts.items()}

    def phi(self, f: dict[str, Any]) -> Callable[[Array], Array]:
        phis = [part.phi(f[name]) for name, part in self.parts.items()]
        return lambda obs: joined(*(phi(obs) for phi in phis))

    def learn(
        self, f: dict[str, Any], batch: Batch, demos: ExpertStates
    ) -> tuple[dict[str, Any], Array, Metrics]:
        learned = {name: part.learn(f[name], batch, demos) for name, part in self.parts.items()}
        metrics = {f"{name}/{k}": v for name, (_, _, told) in learned.items() for k, v in told.items()}
        states = {name: state for name, (state, _, _) in learned.items()}
        return states, joined(*(phi for _, phi, _ in learned.values())), metrics


class PhiHead(NamedTuple):
    phi: Trunk
    head: MLP


class Task(NamedTuple):
    """What a head sees besides phi(s), and what it predicts."""

    sees: Callable[[Trunk, Batch], list[Array]]
    sees_dim: Callable[[FeatureConfig, Spec], int]
    target: Callable[[Batch], Array]
    target_dim: Callable[[Spec], int]


PREDICTIONS = {
    "fdm": Task(
        lambda p, b: [b.action], lambda c, s: s.action_dim, lambda b: b.next_obs, lambda s: s.matched_dim
    ),
    "idm": Task(lambda p, b: [p(b.next_obs)], lambda c, s: c.dim, lambda b: b.action, lambda s: s.action_dim),
    "ae": Task(lambda p, b: [], lambda c, s: 0, lambda b: b.obs, lambda s: s.matched_dim),
}


class Predictive:
    """FDM predicts s' from phi(s) and a; IDM a from phi(s) and phi(s'); AE s from phi(s)."""

    def __init__(self, config: FeatureConfig, spec: Spec, task: Task):
        self.config, self.spec, self.task = config, spec, task

    def init(self, rng: np.random.Generator) -> Trained[PhiHead]:
        c, spec, task = self.config, self.spec, self.task
        sizes = (c.dim + task.sees_dim(c, spec), c.head_width, c.head_width, task.target_dim(spec))
        return Trained.create(PhiHead(make_trunk(c, spec, rng), MLP(sizes, rng)), adam(c.lr))

    def phi(self, f: Trained[PhiHead]) -> Trunk:
        return f.net.phi

    def learn(
        self, f: Trained[PhiHead], batch: Batch, demos: ExpertStates
    ) -> tuple[Trained[PhiHead], Array, Metrics]:
        def loss(net: PhiHead):
            phi = net.phi(batch.obs)
            prediction = net.head(joined(phi, *self.task.sees(net.phi, batch)))
            return jnp.square(prediction - self.task.target(batch)).mean(), phi

        f, value, phi = f.step(loss)
        return f, phi, {"feature_loss": value}


class HilbertState(NamedTuple):
    phi: Trained[Trunk]  # twins, stacked
    target: Trunk


class Hilbert:
    """Hilbert representations (HILP): ||phi(s) - phi(g)|| learns the number of steps from s to g."""

    def __init__(self, config: FeatureConfig, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator) -> HilbertState:
        twins = ensemble(lambda: make_trunk(self.config, self.spec, rng, normed=False))
        return HilbertState(Trained.create(twins, adam(self.config.lr)), copy(twins))

    def phi(self, f: HilbertState) -> Trunk:
        return first(f.phi.net)

    def learn(
        self, f: HilbertState, batch: Batch, demos: ExpertStates
    ) -> tuple[HilbertState, Array, Metrics]:
        c = self.config
        reached = jnp.linalg.norm(batch.obs - batch.goal, axis=-1) < 1e-6
        goal, now, nxt = (_each(f.target, x) for x in (batch.goal, batch.obs, batch.next_obs))
        reward, go_on = jnp.where(reached, 0.0, -1.0), jnp.where(reached, 0.0, c.hr_discount)
        value_next = _minus_distance(nxt, goal)  # [2, B]
        advantage = reward + go_on * value_next.min(0) - _minus_distance(now, goal).mean(0)
        expectile = jnp.where(advantage >= 0, c.hr_expectile, 1 - c.hr_expectile)
        target = reward + go_on * value_next

        def loss(twins: Trunk):
            phi = _each(twins, batch.obs)
            error = target - _minus_distance(phi, _each(twins, batch.goal))
            return (expectile * jnp.square(error)).mean(-1).sum(), phi[0]

        trained, value, phi = f.phi.step(loss)
        target_net = polyak(f.target, trained.net, c.hr_polyak)
        return HilbertState(trained, target_net), phi, {"feature_loss": value}


def _each(twins: Trunk, obs: Array) -> Array:
    """[2, B, d]."""
    return jax.vmap(lambda net: net(obs))(twins)


def _minus_distance(a: Array, b: Array) -> Array:
    return -jnp.sqrt(jnp.maximum(jnp.square(a - b).sum(-1), 1e-6))
