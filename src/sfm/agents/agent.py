"""An agent is a learner and an objective. This file holds the one order of an update."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from sfm.agents.learners import Learner, make_learner
from sfm.agents.objectives import Objective, make_objective
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec
from sfm.config import Config

__all__ = ["Agent", "AgentState", "make_agent"]


class AgentState(NamedTuple):
    learner: Any
    objective: Any


class Agent(NamedTuple):
    learner: Learner
    objective: Objective
    actor_delay: int

    def init(self, key: Array, demos: ExpertStates) -> AgentState:
        k_learner, k_objective = jax.random.split(key)
        learner = self.learner.init(k_learner, self.objective.dim)
        return AgentState(learner, self.objective.init(k_objective, demos))

    def update(
        self, state: AgentState, batch: Batch, other: Batch, demos: ExpertStates, step: Array, key: Array
    ) -> tuple[AgentState, Metrics]:
        """Update number `step`: features, critic, (delayed) actor, targets."""
        k_objective, k_critic, k_weight, k_actor = jax.random.split(key, 4)
        objective, cumulant, metrics = self.objective.update(state.objective, batch, demos, step, k_objective)
        learner, critic_metrics = self.learner.critic_step(
            state.learner, batch, cumulant, self.objective.critic_loss, k_critic
        )

        def improve(learner: Any, objective: Any) -> tuple[Any, Any, Metrics]:
            def value(obs: Array, key: Array, target: bool = False) -> Array:
                return self.learner.value(learner, obs, key, target=target)

            turn = step // self.actor_delay
            weigh = self.objective.weigh(objective, value, batch, other, demos, turn, k_weight)
            penalty = self.objective.penalty(objective, batch, demos, k_weight)
            learner, (objective, weight_metrics), actor_metrics = self.learner.actor_step(
                learner, batch, weigh, penalty, k_actor
            )
            return learner, objective, weight_metrics | actor_metrics

        learner, objective, actor_metrics = self._delayed(improve, step, learner, objective)
        return AgentState(
            self.learner.sync(learner, step), objective
        ), metrics | critic_metrics | actor_metrics

    def _delayed(self, improve, step: Array, learner: Any, objective: Any) -> tuple[Any, Any, Metrics]:
        """`improve` every `actor_delay` updates; its metrics are scaled so that their mean is over those."""
        if self.actor_delay == 1:
            return improve(learner, objective)

        def wait(learner: Any, objective: Any) -> tuple[Any, Any, Metrics]:
            *_, metrics = jax.eval_shape(improve, learner, objective)
            return learner, objective, jax.tree.map(lambda m: jnp.zeros(m.shape, m.dtype), metrics)

        due = step % self.actor_delay == 0
        learner, objective, metrics = jax.lax.cond(due, improve, wait, learner, objective)
        return learner, objective, jax.tree.map(lambda m: m * self.actor_delay, metrics)


def make_agent(config: Config, obs_dim: int, action_dim: int) -> Agent:
    spec = Spec(obs_dim, action_dim, config.gamma)
    return Agent(
        make_learner(config.learner, spec),
        make_objective(config.objective, spec),
        config.learner.actor_delay,
    )
