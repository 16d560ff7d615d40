"""What an objective is: the *what* of learning. It gives the cumulant and the weight of the vector critic."""

from typing import Any, NamedTuple, Protocol, TypeVar

from jax import Array

from sfm.agents.learners.base import CriticLoss, Penalty
from sfm.agents.types import Batch, ExpertStates, Metrics, ValueFn, Weigh

__all__ = ["Objective", "Refresh"]

O = TypeVar("O")  # noqa: E741


class Refresh(NamedTuple):
    """A demand for fresh on-policy episodes."""

    every: int  # environment steps
    episodes: int
    counted: bool  # in the step budget


class Objective(Protocol[O]):
    dim: int
    critic_loss: CriticLoss
    uses_goals: bool  # Batch.goal is sampled
    uses_other: bool  # a second, independent minibatch is sampled
    fresh: Refresh | None

    def init(self, key: Array, demos: ExpertStates) -> O: ...

    def update(
        self, o: O, batch: Batch, demos: ExpertStates, step: Array, key: Array
    ) -> tuple[O, Array, Metrics]:
        """Train what is trained besides. Returns (state, cumulant [B, d] before that step, metrics)."""
        ...

    def weigh(
        self, o: O, value: ValueFn, batch: Batch, other: Batch, demos: ExpertStates, turn: Array, key: Array
    ) -> Weigh:
        """psi on the actor's minibatch -> (weight [d], (state, metrics)); `turn` counts actor steps."""
        ...

    def penalty(self, o: O, batch: Batch, demos: ExpertStates, key: Array) -> Penalty | None: ...

    def refresh(self, o: O, obs: Array, length: Array, demos: ExpertStates, key: Array) -> tuple[O, Metrics]:
        """Learn from fresh episodes obs [K, T+1, o] with `length` [K] transitions."""
        ...

    def score(self, o: O, obs: Array, length: Array, returns: Array) -> Array:
        """How good each episode [N, T+1, o] is, larger is better, [N]; read by the assessment."""
        ...


def unused(*_: Any) -> None:
    """For the optional parts that an objective does without."""
    return None
