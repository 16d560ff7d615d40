"""Behaviour cloning, of the expert's actions or of actions inferred for the expert's states.

Both add one term to an actor's loss, mean (pi(s_E) - a_E)^2; critic, cumulant and weight are nothing.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.inverse import InverseModel
from sfm.agents.learners.base import Critics, Penalty
from sfm.agents.objectives.base import C, O, Objective, Offline
from sfm.agents.objectives.cost import draw_pairs, draw_times
from sfm.agents.types import Batch, Context, ExpertStates, Metrics, Spec, ValueFn
from sfm.config import BCConfig, BCOConfig


def draw_transitions(key: Array, demos: ExpertStates, count: int) -> Batch:
    """`count` of the expert's transitions, uniform over all; none of them ends in a terminal state."""
    assert demos.action is not None
    episode, time = draw_times(key, demos.length, count)
    now, following = demos.obs[episode, time], demos.obs[episode, time + 1]
    ones = jnp.ones(count)
    return Batch(now, demos.action[episode, time], following, 0 * ones, ones, following, expert=ones)


def cloning(obs: Array, action: Array) -> Penalty:
    """mean (pi(obs) - action)^2, over batch and dimensions."""
    return lambda pi: jnp.square(pi(obs) - action).mean()


class Cloning(Objective[C, O]):
    """No critic to learn, no value to climb."""

    def critic_loss(self, o: O, critics: Critics, batch: Batch, cumulant: Array) -> tuple[Array, Array]:
        return jnp.zeros(()), cumulant

    def weight(self, o: O, psi: Array, value: ValueFn, context: Context) -> tuple[None, O, Metrics]:
        return None, o, {}


class BC(Cloning[BCConfig, tuple[()]], config=BCConfig):
    """The expert's own actions, without any episode of the policy."""

    def __init__(self, config: BCConfig, spec: Spec):
        super().__init__(config, spec)
        self.offline = Offline(config.validation > 0, config.patience)

    def init(self, rng: np.random.Generator) -> tuple[()]:
        return ()

    def _learned(self, demos: ExpertStates) -> ExpertStates:
        """Without what is held out, the last part of each demonstration."""
        kept = jnp.floor((1 - self.config.validation) * demos.length).astype(demos.length.dtype)
        return demos._replace(length=jnp.maximum(kept, 1))

    def blend(self, context: Context) -> Batch:
        return draw_transitions(context.key, self._learned(context.demos), context.batch.obs.shape[0])

    def penalty(self, o: tuple[()], context: Context) -> Penalty:
        return cloning(context.batch.obs, context.batch.action)

    def validate(self, policy: Any, demos: ExpertStates) -> Array:
        assert demos.action is not None
        error = jnp.square(policy(demos.obs[:, :-1]) - demos.action).mean(-1)  # [M, T]
        begin = self._learned(demos).length[:, None]
        t = jnp.arange(error.shape[1])
        held_out = (t >= begin) & (t < demos.length[:, None])
        return jnp.where(held_out, error, 0.0).sum() / jnp.maximum(held_out.sum(), 1)


class BCO(Cloning[BCOConfig, InverseModel], config=BCOConfig):
    """Cloning from observation: an inverse model of the policy's transitions infers the expert's actions."""

    def init(self, rng: np.random.Generator) -> InverseModel:
        return InverseModel.create(self.config.inverse, self.spec, rng)

    def update(self, o: InverseModel, context: Context) -> tuple[InverseModel, Array, Metrics]:
        o, error = o.fit(self.config.inverse, context.batch, self.spec)
        return o, jnp.zeros_like(context.batch.reward)[:, None], {"inverse_loss": error}

    def penalty(self, o: InverseModel, context: Context) -> Penalty:
        demos, count = context.demos, context.batch.obs.shape[0]
        obs, action = o(*draw_pairs(context.key, demos.obs, demos.length, count), self.spec)
        return cloning(obs, action.clip(-1, 1))
