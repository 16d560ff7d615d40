"""What an objective is: the *what* of learning. It gives the cumulant and the weight of the vector critic."""

from typing import Any, NamedTuple, Protocol, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners.base import CriticLoss, Penalty
from sfm.agents.types import Batch, ExpertStates, Metrics, ValueFn, Weigh

__all__ = ["Objective", "Offline", "Refresh", "weigh_scalar"]

O = TypeVar("O")  # noqa: E741


class Refresh(NamedTuple):
    """A demand for fresh on-policy episodes."""

    every: int  # environment steps
    episodes: int
    counted: bool  # in the step budget


class Offline(NamedTuple):
    """Learning from demonstrations alone: no episodes are collected, and a step is an update."""

    validated: bool  # `Objective.validate` says which policy to keep
    patience: int  # stop after so many updates without a better policy; 0: never


class Objective(Protocol[O]):
    """Objectives inherit what they leave as it is."""

    dim: int = 1
    critics: int = 2  # how many are trained
    critic_loss: CriticLoss
    uses_goals: bool = False  # Batch.goal is sampled
    uses_other: bool = False  # a second, independent minibatch is sampled
    newest: int = 0  # of how many of the newest transitions that one is; 0: of all
    fresh: Refresh | None = None
    offline: Offline | None = None

    def init(self, rng: np.random.Generator) -> O: ...

    def blend(self, batch: Batch, demos: ExpertStates, key: Array) -> Batch:
        """The minibatch that everything learns from, given the one from replay."""
        return batch

    def update(
        self, o: O, batch: Batch, demos: ExpertStates, step: Array, key: Array
    ) -> tuple[O, Array, Metrics]:
        """Train what is trained besides. Returns (state, cumulant [B, d] before that step, metrics)."""
        return o, jnp.zeros((batch.obs.shape[0], self.dim)), {}

    def cumulant(self, o: O, obs: Array, next_obs: Array, reward: Array) -> Array:
        """The cumulants [..., d] of transitions, for targets of several steps."""
        return jnp.zeros((*reward.shape, self.dim))

    def critic_loss_now(self, o: O) -> CriticLoss:
        """`critic_loss`, where it depends on the objective's state."""
        return self.critic_loss

    def weigh(
        self, o: O, value: ValueFn, batch: Batch, other: Batch, demos: ExpertStates, turn: Array, key: Array
    ) -> Weigh:
        """psi on the actor's minibatch -> (weight [d], (state, metrics)); `turn` counts actor steps."""
        ...

    def penalty(self, o: O, batch: Batch, demos: ExpertStates, key: Array) -> Penalty | None:
        return None

    def refresh(self, o: O, obs: Array, length: Array, demos: ExpertStates, key: Array) -> tuple[O, Metrics]:
        """Learn from fresh episodes obs [K, T+1, o] with `length` [K] transitions."""
        return o, {}

    def score(self, o: O, obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """How good each episode [N, T+1, o] is, larger is better, [N]; read by the assessment."""
        return jnp.zeros(obs.shape[0])

    def validate(self, policy: Any, demos: ExpertStates) -> Array:
        """The loss of a policy (obs -> action) on what was held out, []; where `offline.validated`."""
        raise NotImplementedError


def weigh_scalar(o: Any, weight: float = 1.0) -> Weigh:
    """`weigh` of a scalar critic, whose weight is a constant."""
    return lambda psi: (jnp.full(1, weight), (o, {"value": psi.mean()}))
