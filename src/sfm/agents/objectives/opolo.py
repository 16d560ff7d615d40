"""OPOLO (Zhu et al. 2020): a cost on state pairs from replay alone, and actions inferred for the expert.

    critic: 1/2 sum_i (Q_i(s, a) - y)^2 + 2 alpha (1 - gamma) min_i Q_i(s, pi(s))
    actor:  -2 alpha (1 - gamma) min_i Q_i(s, pi(s)) + clone * (pi(s_E) - inferred(s_E, s_E'))^2

with y = r(s, s') + gamma min_i Q_i of the target networks. The squared error never meets the actor.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.inverse import InverseModel, standardised_pair
from sfm.agents.learners.base import Critics, Penalty, td_loss
from sfm.agents.nets import MLP
from sfm.agents.objectives.base import Objective
from sfm.agents.objectives.cloning import cloning
from sfm.agents.objectives.cost import draw_pairs, episode_mean, fit_cost, make_cost
from sfm.agents.optim import Moments, Trained, zeros
from sfm.agents.types import Batch, Context, Metrics, Spec
from sfm.config import OPOLOConfig

MAX_REWARD = 9.21034  # -log 1e-4


class OPOLOState(NamedTuple):
    cost: Trained[MLP]
    moments: Moments  # of the expert's states, by which the cost sees pairs standardised
    inverse: InverseModel
    updates: Array  # []
    latest: Metrics  # of the latest steps of cost and inverse model


class OPOLO(Objective[OPOLOConfig, OPOLOState], config=OPOLOConfig):
    uses_recent = True  # all visits: the cost learns from no state in which an environment was put

    def __init__(self, config: OPOLOConfig, spec: Spec):
        super().__init__(config, spec)
        self.scalar_weight = 2 * config.alpha * (1 - spec.gamma)

    def init(self, rng: np.random.Generator) -> OPOLOState:
        c = self.config
        return OPOLOState(
            make_cost(c.cost, 2 * self.spec.matched_dim, self.spec.updates // c.cost_interval, rng),
            Moments.zeros(self.spec.matched_dim),
            InverseModel.create(c.inverse, self.spec, rng),
            zeros(dtype=np.int32),
            {"cost_gap": zeros(), "inverse_loss": zeros()},
        )

    def reward(self, o: OPOLOState, obs: Array, next_obs: Array) -> Array:
        """-log P(these are the policy's) [..., 1], between 0 and `MAX_REWARD`."""
        cost = o.cost.net(self._pair(o.moments, obs, next_obs))
        return jax.nn.softplus(-cost).clip(max=MAX_REWARD)

    def _pair(self, moments: Moments, obs: Array, next_obs: Array) -> Array:
        """What is matched of two states, as the cost sees it."""
        part = self.spec.part
        return standardised_pair(moments, part(obs), part(next_obs), self.spec._replace(matched=None))

    def update(self, o: OPOLOState, context: Context) -> tuple[OPOLOState, Array, Metrics]:
        c, batch, step = self.config, context.batch, context.step
        reward = self.reward(o, batch.obs, batch.next_obs)
        o = _if(step % c.cost_interval == 0, lambda o: self._fit_cost(o, context), o)
        inverse_due = (step % c.inverse_interval == 0) | (o.updates < c.inverse_first)
        o = _if(inverse_due, lambda o: self._fit_inverse(o, batch), o)
        return o._replace(updates=o.updates + 1), reward, o.latest | {"reward": reward.mean()}

    def _fit_cost(self, o: OPOLOState, context: Context) -> OPOLOState:
        recent, demos = context.recent, context.demos
        k_expert, k_fit = jax.random.split(context.key)
        pairs = draw_pairs(k_expert, demos.obs, demos.length, recent.obs.shape[0])
        moments = o.moments.add(self.spec.part(pairs[0]))
        expert = self._pair(moments, *pairs)
        agent = self._pair(moments, recent.obs, recent.next_obs)
        cost, metrics = fit_cost(o.cost, self.config.cost, expert, agent, k_fit)
        return o._replace(cost=cost, moments=moments, latest=o.latest | {"cost_gap": metrics["cost_gap"]})

    def _fit_inverse(self, o: OPOLOState, batch: Batch) -> OPOLOState:
        inverse, error = o.inverse.fit(self.config.inverse, batch, self.spec)
        return o._replace(inverse=inverse, latest=o.latest | {"inverse_loss": error})

    def critic_loss(
        self, o: OPOLOState, critics: Critics, batch: Batch, cumulant: Array
    ) -> tuple[Array, Array]:
        squared, y = td_loss(critics, batch, cumulant, self.twins)
        action, _ = critics.pi(batch.obs)
        return 0.5 * squared + self.scalar_weight * critics.psi(batch.obs, action).min(0).mean(), y

    def penalty(self, o: OPOLOState, context: Context) -> Penalty:
        """Clone the inferred actions on the expert's states."""
        demos, count = context.demos, context.batch.obs.shape[0]
        error = cloning(*o.inverse(*draw_pairs(context.key, demos.obs, demos.length, count), self.spec))
        return lambda pi: self.config.clone * error(pi)

    def score(self, o: OPOLOState, obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """The mean reward of each episode."""
        return episode_mean(self.reward(o, obs[:, :-1], obs[:, 1:])[..., 0], length)


def _if(due: Array, step: Callable[[OPOLOState], OPOLOState], o: OPOLOState) -> OPOLOState:
    """`step(o)` if due. A loop of one turn or none: under vmap `cond` would compute the step every time."""
    return jax.lax.fori_loop(0, due.astype(jnp.int32), lambda _, o: step(o), o)
