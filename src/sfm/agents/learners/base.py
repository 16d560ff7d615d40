"""What a learner is: the *how* of learning, for a vector critic psi of any dimension.

A learner regresses twin critics psi(s, a) in R^d on `cumulant + gamma * bootstrap` and moves its actor
up the mean of `<weight, psi(s, pi(s))>`. It does not know where cumulant and weight come from.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from sfm.agents.nets import MLP, Critic, ensemble
from sfm.agents.optim import Trained, adam
from sfm.agents.types import Batch, Metrics, Spec, Weigh
from sfm.config import ActorCriticConfig, StochasticConfig, TD3Config

__all__ = [
    "CriticLoss",
    "Critics",
    "Learner",
    "Penalty",
    "actor_adam",
    "actor_loss",
    "fit_critics",
    "plain_nets",
    "restraint",
    "smoothing_noise",
    "td_loss",
]

L = TypeVar("L")


class Critics(NamedTuple):
    """A learner's critics as a critic loss sees them; E twins, d dimensions."""

    psi: Callable[[Array, Array], Array]
    """(obs, action) -> [E, B, d] of the critics being trained."""
    target: Callable[[Array, Array], Array]
    """(obs, action) -> [E, B, d] of the target critics."""
    pi: Callable[[Array], tuple[Array, Array]]
    """obs -> (action, its entropy bonus [B]) of the policy; the bonus is zero where it is deterministic."""
    bootstrap: Callable[[str], Array]
    """reduction over twins -> discount * psi_target(s', a') of `Batch.beyond`, without gradient, [B, d]."""


CriticLoss = Callable[[Critics, Batch, Array], tuple[Array, Array]]
"""(critics, batch, cumulant [B, d]) -> (loss, regression target [B, d])."""

Penalty = Callable[[Callable[[Array], Array]], Array]
"""An extra term of the actor's loss: (obs -> pi(obs)) -> scalar."""


class Learner(Protocol[L]):
    """`step` counts updates from 1 and is never batched over seeds, so that `cond` stays a branch."""

    def init(self, rng: np.random.Generator, dim: int, critics: int = 2) -> L: ...

    def restart(self, s: L) -> L:
        """The same networks at the start of training: new optimizers, and targets that are copies."""
        ...

    def adopt(self, s: L, policy: Any) -> L:
        """The networks of a `policy` in place of those that act."""
        ...

    def critic_step(
        self, s: L, batch: Batch, cumulant: Array, loss: CriticLoss, key: Array
    ) -> tuple[L, Metrics]: ...

    def actor_step(
        self, s: L, batch: Batch, weigh: Weigh, penalty: Penalty | None, key: Array
    ) -> tuple[L, Any, Metrics]:
        """Returns (state, what `weigh` carries on, metrics)."""
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


def td_loss(twins: str, along: Array | None = None) -> CriticLoss:
    """Squared error to `cumulant + gamma * bootstrap`: summed over twins, mean over batch and d (eq. 2).

    With a vector `along` [d], the square of the error's product with it is added.
    """

    def loss(critics: Critics, batch: Batch, cumulant: Array) -> tuple[Array, Array]:
        y = jax.lax.stop_gradient(cumulant + critics.bootstrap(twins))
        error = critics.psi(batch.obs, batch.action) - y
        total = jnp.square(error).mean((1, 2)).sum()
        if along is not None:
            total += jnp.square(error @ along).mean(1).sum()
        return total, y

    return loss


def fit_critics(
    critic: Trained[Any],
    psi: Callable[[Any], Callable[[Array, Array], Array]],
    loss: CriticLoss,
    batch: Batch,
    cumulant: Array,
    **rest: Any,
) -> tuple[Trained[Any], Array, Metrics]:
    """One step of the twins: (trained, regression target [B, d], metrics).

    psi: net -> (obs, action) -> [E, B, d]; `rest` are the other fields of `Critics`.
    """
    critic, value, y = critic.step(lambda net: loss(Critics(psi(net), **rest), batch, cumulant))
    return critic, y, {"critic_loss": value, "target_abs": jnp.abs(y).mean()}


def actor_loss(
    psi: Array,
    weigh: Weigh,
    pi: Callable[[Array], Array],
    penalty: Penalty | None,
    bonus: Array | float = 0.0,
) -> tuple[Array, Any]:
    """(-mean <weight, psi(s, pi(s))> - bonus + penalty, what `weigh` carries on).

    psi [B, d] is computed once and serves the weight too, which has no gradient (prop. 2). Without a weight
    psi and the bonus do not enter, and the compiler leaves them out.
    """
    weight, carry = jax.lax.stop_gradient(weigh(jax.lax.stop_gradient(psi)))
    climbed = jnp.zeros(()) if weight is None else (psi @ weight).mean() + bonus
    return (penalty(pi) if penalty else 0.0) - climbed, carry


def restraint(c: ActorCriticConfig, before: Array) -> Array | float:
    """Minus the penalty on an actor's outputs before tanh [B, a], to be added to what it climbs."""
    return -c.pretanh_penalty * jnp.square(before).mean() if c.pretanh_penalty else 0.0


def smoothing_noise(key: Array, like: Array, scale: float, clip: float) -> Array:
    """Target policy smoothing: clipped Gaussian noise, one draw per row and action dimension."""
    return jnp.clip(scale * jax.random.normal(key, like.shape), -clip, clip)
