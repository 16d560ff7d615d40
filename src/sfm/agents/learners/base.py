"""What a learner is: the *how* of learning, for a vector critic psi of any dimension.

A learner moves twin critics psi(s, a) in R^d down a loss, mostly the squared error to `cumulant + gamma *
bootstrap`, and its actor up the mean of `<weight, psi(s, pi(s))>`. It does not know where they come from.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from sfm.agents.nets import MLP, Critic, ensemble
from sfm.agents.optim import Trained, adam
from sfm.agents.types import Batch, Metrics, Spec
from sfm.config import ActorCriticConfig, StochasticConfig, TD3Config

L = TypeVar("L")
Net = TypeVar("Net")


class Critics(NamedTuple):
    """A learner's critics as a critic loss sees them; E twins, d dimensions."""

    psi: Callable[[Array, Array], Array]
    """(obs, action) -> [E, B, d] of the critics being trained."""
    target: Callable[[Array, Array], Array]
    """(obs, action) -> [E, B, d] of the target critics."""
    pi: Callable[[Array], tuple[Array, Array]]
    """obs -> (action, its entropy bonus [B]) of the policy; the bonus is zero where it is deterministic."""
    bootstrap: Callable[[str], Array]
    """reduction over twins -> discount * psi_target(s', a') at `Batch.bootstrap_from`, [B, d]."""


CriticLoss = Callable[[Critics], tuple[Array, Array]]
"""critics -> (loss, regression target [B, d])."""

Penalty = Callable[[Callable[[Array], Array]], Array]
"""An extra term of the actor's loss: (obs -> pi(obs)) -> scalar."""

Climb = Callable[[Array | None], tuple[L, Metrics]]
"""weight [d] of psi, or None where there is no value to climb -> (learner's state, metrics)."""


class Learner(Protocol[L]):
    """`step` counts updates from 1 and is never batched over seeds, so that `cond` stays a branch."""

    def init(self, rng: np.random.Generator, dim: int, critics: int = 2) -> L: ...

    def restart(self, s: L) -> L:
        """The same networks at the start of training: new optimizers, and targets that are copies."""
        ...

    def adopt(self, s: L, policy: Any) -> L:
        """The networks of a `policy` in place of those that act."""
        ...

    def critic_step(self, s: L, batch: Batch, loss: CriticLoss, key: Array) -> tuple[L, Metrics]: ...

    def actor_step(self, s: L, batch: Batch, penalty: Penalty | None, key: Array) -> tuple[Array, Climb[L]]:
        """psi(s, pi(s)) [B, d] of the minibatch, and the step that waits for its weight."""
        ...

    def value(self, s: L, obs: Array, key: Array, *, target: bool = False) -> Array:
        """psi(obs, pi(obs)) of the first twin, [B, d]."""
        ...

    def sync(self, s: L, step: Array) -> L:
        """Move the targets after update number `step`."""
        ...

    def policy(self, s: L) -> Any:
        """The acting part: a module (obs [..., o], noise [..., a] or None) -> action [..., a]."""
        ...


def actor_adam(c: ActorCriticConfig, spec: Spec) -> optax.GradientTransformation:
    falls = c.lr_actor_final is not None
    return adam(c.lr_actor, c.lr_actor_final, spec.updates // c.actor_delay) if falls else adam(c.lr_actor)


def plain_nets(
    c: TD3Config | StochasticConfig,
    spec: Spec,
    rng: np.random.Generator,
    outputs: int,
    dim: int,
    critics: int,
) -> tuple[MLP, Critic]:
    """An actor's network s -> R^outputs, and stacked critics (s, a) -> R^dim."""
    hidden = (c.width,) * c.depth
    actor = MLP((spec.obs_dim, *hidden, outputs), rng, init=c.init, normed=c.actor_norm)
    sizes = (spec.obs_dim + spec.action_dim, *hidden, dim)
    return actor, ensemble(lambda: Critic(MLP(sizes, rng, init=c.init, normed=c.layer_norm)), critics)


def td_loss(
    critics: Critics, batch: Batch, cumulant: Array, twins: str, along: Array | None = None
) -> tuple[Array, Array]:
    """Squared error to `cumulant + gamma * bootstrap`: summed over twins, mean over batch and d (eq. 2).

    With a vector `along` [d], the square of the error's product with it is added.
    """
    y = jax.lax.stop_gradient(cumulant + critics.bootstrap(twins))
    error = critics.psi(batch.obs, batch.action) - y
    total = jnp.square(error).mean((1, 2)).sum()
    if along is not None:
        total += jnp.square(error @ along).mean(1).sum()
    return total, y


def fit_critics(
    critic: Trained[Any],
    psi: Callable[[Any], Callable[[Array, Array], Array]],
    loss: CriticLoss,
    **rest: Any,
) -> tuple[Trained[Any], Array, Metrics]:
    """One step of the twins: (trained, regression target [B, d], metrics).

    psi: net -> (obs, action) -> [E, B, d]; `rest` are the other fields of `Critics`.
    """
    critic, value, y = critic.step(lambda net: loss(Critics(psi(net), **rest)))
    return critic, y, {"critic_loss": value, "target_abs": jnp.abs(y).mean()}


def climbing(
    s: L,
    actor: Trained[Net],
    value: Callable[[Net], tuple[tuple[Array, Array | float], Metrics]],
    pi: Callable[[Net], Callable[[Array], Array]],
    penalty: Penalty | None,
) -> tuple[Array, Climb[L]]:
    """psi [B, d] of the actor of `s`, and its step down -mean <weight, psi> - bonus + penalty.

    value: net -> ((psi, bonus), metrics). The weight depends on psi and has no gradient (prop. 2): it is
    chosen between the two halves of a derivative, so that psi is computed once. Without a weight psi and the
    bonus do not enter, and the compiler leaves them out.
    """
    (psi, bonus), back, metrics = jax.vjp(value, actor.net, has_aux=True)

    def climb(weight: Array | None) -> tuple[L, Metrics]:
        parts = []  # of the loss, each with its gradient
        if weight is not None:
            loss = lambda psi, bonus: -((psi @ weight).mean() + bonus)  # noqa: E731
            climbed, slopes = jax.value_and_grad(loss, (0, 1))(psi, bonus)
            parts.append((climbed, back(slopes)[0]))
        if penalty is not None:
            parts.append(jax.value_and_grad(lambda net, term=penalty: term(pi(net)))(actor.net))
        total, gradient = jax.tree.map(lambda *terms: functools.reduce(operator.add, terms), *parts)
        return s._replace(actor=actor.moved(gradient)), metrics | {"actor_loss": total}  # pyright: ignore

    return psi, climb


def pretanh_penalty(c: ActorCriticConfig, before: Array) -> Array | float:
    """The penalty on an actor's outputs before tanh [B, a]."""
    return c.pretanh_penalty * jnp.square(before).mean() if c.pretanh_penalty else 0.0


def smoothing_noise(key: Array, like: Array, scale: float, clip: float) -> Array:
    """Target policy smoothing: clipped Gaussian noise, one draw per row and action dimension."""
    return jnp.clip(scale * jax.random.normal(key, like.shape), -clip, clip)
