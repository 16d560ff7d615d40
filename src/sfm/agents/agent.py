"""An agent is a learner and an objective. This file holds the one order of an update."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners import Learner, make_learner
from sfm.agents.learners.policies import StandardisedPolicy
from sfm.agents.objectives import Objective, make_objective
from sfm.agents.optim import Moments
from sfm.agents.types import Context, ExpertStates, Metrics, Spec
from sfm.config import BCConfig, Config


class AgentState(NamedTuple):
    learner: Any
    objective: Any
    moments: Moments | None  # of replayed states, where the networks see them standardised


class Agent(NamedTuple):
    learner: Learner
    objective: Objective
    spec: Spec
    actor_delay: int  # updates per step of the actor
    rests: bool = False  # whether the actor stays as it is, while all else learns

    def init(self, rng: np.random.Generator) -> AgentState:
        return self.actor(rng)._replace(objective=self.objective.init(rng))

    def actor(self, rng: np.random.Generator) -> AgentState:
        """A first state without the objective's part, which acting does not need."""
        moments = Moments.zeros(self.spec.obs_dim) if self.spec.normalise == "all" else None
        learner = self.learner.init(rng, self.objective.dim, self.objective.critics)
        return AgentState(learner, None, moments)

    def cloner(self) -> "Agent":
        """An agent whose actor, the same as this one's, clones the expert's actions."""
        return self._replace(objective=make_objective(BCConfig(), self.spec), actor_delay=1)

    def resting(self) -> "Agent":
        """An agent whose actor does not learn."""
        return self._replace(rests=True)

    def adopt(self, state: AgentState, policy: Any) -> AgentState:
        """`state` with the networks of `policy`, which has the form of `self.policy(state)`."""
        if state.moments:
            seen = Moments.of(policy.mean, policy.spread)
            state, policy = state._replace(moments=seen), policy.policy
        return state._replace(learner=self.learner.restart(self.learner.adopt(state.learner, policy)))

    def policy(self, state: AgentState) -> Any:
        """The acting part: a module (obs [..., o], noise [..., a] or None) -> action [..., a]."""
        policy = self.learner.policy(state.learner)
        return StandardisedPolicy(policy, *state.moments.mean_and_spread()) if state.moments else policy

    def score(self, state: AgentState, obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """How well each episode obs [N, T+1, o] does, [N]."""
        return self.objective.score(state.objective, _seen(state.moments, obs), length, terminated, returns)

    def validate(self, state: AgentState, demos: ExpertStates) -> Array:
        """The loss of the policy on what an offline objective holds out, []."""
        return self.objective.validate(self.policy(state), demos)

    def refresh(
        self, state: AgentState, obs: Array, length: Array, demos: ExpertStates, key: Array
    ) -> tuple[AgentState, Metrics]:
        """The objective's step on fresh episodes obs [N, T+1, o]."""
        moments = state.moments.begun(obs) if state.moments else None
        seen, demos = _seen(moments, obs), _expert_seen(moments, demos)
        objective, metrics = self.objective.refresh(state.objective, seen, length, demos, key)
        return state._replace(objective=objective, moments=moments), metrics

    def update(self, state: AgentState, context: Context) -> tuple[AgentState, Metrics]:
        """Update number `context.step`: features, critic, (delayed) actor, targets."""
        k_objective, k_critic, k_weight, k_actor, k_blend, k_penalty = jax.random.split(context.key, 6)
        batch = self.objective.blend(context._replace(key=k_blend))
        moments = state.moments.add(batch.obs) if state.moments else None
        see = functools.partial(_seen, moments)
        shown = context.demos and self.objective.shown(context.demos)
        batch, recent, demos = batch.seen(see), context.recent.seen(see), _expert_seen(moments, shown)
        context = Context(batch, recent, demos, context.step, k_objective)
        objective, cumulant, metrics = self.objective.update(state.objective, context)
        if (n := batch.n_step) is not None:
            later = self.objective.cumulant(objective, n.obs, n.next_obs, n.reward)
            cumulant += jax.lax.stop_gradient(jnp.einsum("bn,bnd->bd", n.weight, later))
        loss = functools.partial(self.objective.critic_loss, objective, batch=batch, cumulant=cumulant)
        learner, critic_metrics = self.learner.critic_step(state.learner, batch, loss, k_critic)

        @jax.jit  # so that it is traced once, for its shapes and for the branch
        def improve(learner: Any, objective: Any) -> tuple[Any, Any, Metrics]:
            value = functools.partial(self.learner.value, learner)
            turn = context._replace(step=context.step // self.actor_delay, key=k_weight)
            penalty = self.objective.penalty(objective, turn._replace(key=k_penalty))
            psi, climb = self.learner.actor_step(learner, batch, penalty, k_actor)
            weight, objective, metrics = self.objective.weight(objective, psi, value, turn)
            if self.rests:
                return learner, objective, metrics
            learner, actor_metrics = climb(weight)
            return learner, objective, metrics | actor_metrics

        learner, objective, actor_metrics = self._delayed(improve, context.step, learner, objective)
        state = AgentState(self.learner.sync(learner, context.step), objective, moments)
        return state, metrics | critic_metrics | actor_metrics

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


def _seen(moments: Moments | None, obs: Array) -> Array:
    """States as the networks see them."""
    return moments.standardise(obs) if moments else obs


def _expert_seen(moments: Moments | None, demos: ExpertStates | None) -> Any:
    return demos._replace(obs=_seen(moments, demos.obs)) if demos else None


def make_agent(
    config: Config,
    obs_dim: int,
    action_dim: int,
    terminates: bool = False,
    matched: tuple[int, ...] | None = None,
    observation: tuple[str, ...] = (),
) -> Agent:
    c = config
    length = c.updates, c.refreshes
    spec = Spec(
        obs_dim, action_dim, c.gamma, c.n_step, terminates, *length, c.normalise, matched, observation
    )
    return Agent(
        make_learner(c.learner, spec), make_objective(c.objective, spec), spec, c.learner.actor_delay
    )
