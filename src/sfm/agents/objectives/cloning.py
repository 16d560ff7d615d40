"""Behaviour cloning, of the expert's actions or of actions inferred for the expert's states.

Both add one term to an actor's loss, mean (pi(s_E) - a_E)^2; critic, cumulant and weight are nothing.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.inverse import InverseModel
from sfm.agents.learners.base import Critics, Penalty
from sfm.agents.objectives.base import Objective, Offline
from sfm.agents.objectives.contrast import draw_pairs, draw_times
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec, Weigh
from sfm.config import BCConfig, BCOConfig

__all__ = ["BC", "BCO", "cloning", "draw_transitions"]


def draw_transitions(key: Array, demos: ExpertStates, count: int) -> Batch:
    """`count` of the expert's transitions, uniform over all; none of them ends in a terminal state."""
    assert demos.action is not None
    episode, time = draw_times(key, demos.length, count)
    now, following = demos.obs[episode, time], demos.obs[episode, time + 1]
    ones = jnp.ones(count)
    return Batch(now, demos.action[episode, time], following, 0 * ones, ones, following, expert=ones)


def no_critic_loss(critics: Critics, batch: Batch, cumulant: Array) -> tuple[Array, Array]:
    return jnp.zeros(()), cumulant


def no_weight(o: Any) -> Weigh:
    return lambda psi: (None, (o, {}))


def cloning(obs: Array, action: Array) -> Penalty:
    """mean (pi(obs) - action)^2, over batch and dimensions."""
    return lambda pi: jnp.square(pi(obs) - action).mean()


class BC(Objective[tuple[()]]):
    """The expert's own actions, without any episode of the policy."""

    critic_loss = staticmethod(no_critic_loss)

    def __init__(self, config: BCConfig, spec: Spec):
        self.config = config
        self.offline = Offline(config.validation > 0, config.patience)

    def init(self, rng: np.random.Generator) -> tuple[()]:
        return ()

    def _learned(self, demos: ExpertStates) -> ExpertStates:
        """Without what is held out, the last part of each demonstration."""
        kept = jnp.floor((1 - self.config.validation) * demos.length).astype(demos.length.dtype)
        return demos._replace(length=jnp.maximum(kept, 1))

    def blend(self, batch: Batch, demos: ExpertStates, key: Array) -> Batch:
        return draw_transitions(key, self._learned(demos), batch.obs.shape[0])

    def weigh(self, o: tuple[()], *_: Any) -> Weigh:
        return no_weight(o)

    def penalty(self, o: tuple[()], batch: Batch, *_: Any) -> Penalty:
        return cloning(batch.obs, batch.action)

    def validate(self, policy: Any, demos: ExpertStates) -> Array:
        assert demos.action is not None
        error = jnp.square(policy(demos.obs[:, :-1]) - demos.action).mean(-1)  # [M, T]
        begin = self._learned(demos).length[:, None]
        t = jnp.arange(error.shape[1])
        held_out = (t >= begin) & (t < demos.length[:, None])
        return jnp.where(held_out, error, 0.0).sum() / jnp.maximum(held_out.sum(), 1)


class BCO(Objective[InverseModel]):
    """Cloning from observation: an inverse model of the policy's transitions infers the expert's actions."""

    critic_loss = staticmethod(no_critic_loss)

    def __init__(self, config: BCOConfig, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator) -> InverseModel:
        return InverseModel.create(self.config.inverse, self.spec, rng)

    def update(self, o: InverseModel, batch: Batch, *_: Any) -> tuple[InverseModel, Array, Metrics]:
        o, error = o.fit(self.config.inverse, batch)
        return o, jnp.zeros_like(batch.reward)[:, None], {"inverse_loss": error}

    def weigh(self, o: InverseModel, *_: Any) -> Weigh:
        return no_weight(o)

    def penalty(self, o: InverseModel, batch: Batch, demos: ExpertStates, key: Array) -> Penalty:
        obs, following = draw_pairs(key, demos.obs, demos.length, batch.obs.shape[0])
        return cloning(obs, o(obs, following).clip(-1, 1))
