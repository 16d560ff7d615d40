"""What an objective is: the *what* of learning. It gives the cumulant and the weight of the vector critic."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners.base import Critics, Penalty, td_loss
from sfm.agents.types import Batch, Context, ExpertStates, Metrics, Spec, ValueFn

C = TypeVar("C")
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


class Objective(ABC, Generic[C, O]):
    """Made from a config of class C; what it learns and remembers is a value of class O, called `o` below.

    The defaults are those of a scalar critic whose value the actor climbs, with nothing trained besides: an
    objective has the hooks in which it differs. A subclass that names its `config` is found by it.
    """

    of_config: ClassVar[dict[Any, Any]] = {}  # the class of a config -> the class of its objective

    dim: int = 1  # d, of psi
    critics: int = 2  # how many are trained
    twins: str = "min"  # how they give the target
    scalar_weight: float = 1.0  # of psi, where d = 1
    uses_goals: bool = False  # Batch.goal is sampled
    uses_recent: bool = False  # Context.recent is sampled
    fresh: Refresh | None = None
    offline: Offline | None = None

    def __init_subclass__(cls, config: type | None = None) -> None:
        if config:
            Objective.of_config[config] = cls

    def __init__(self, config: C, spec: Spec):
        self.config, self.spec = config, spec

    @abstractmethod
    def init(self, rng: np.random.Generator) -> O:
        """The first state."""

    def recent(self, total: np.ndarray, done: np.ndarray) -> np.ndarray:
        """How many of the newest visits `Context.recent` comes from.

        Arguments: how many there are, [S]; the share of its run that each seed has behind it, [S].
        Returns: [S], or [S, K] where it comes from K windows in equal parts.
        """
        return total

    def shown(self, demos: ExpertStates) -> ExpertStates:
        """The demonstrations that an update looks at, or enough of them."""
        return demos

    def blend(self, context: Context) -> Batch:
        """Mix the expert's rows in.

        Arguments: the context, with the minibatch from replay.
        Returns: the minibatch that everything learns from.
        """
        return context.batch

    def update(self, o: O, context: Context) -> tuple[O, Array, Metrics]:
        """Train what is trained besides critic and actor, at every update.

        Arguments: the state; the context.
        Returns: the state; the cumulant [B, d] of the minibatch, as it was before this step; metrics.
        """
        batch = context.batch
        return o, self.cumulant(o, batch.obs, batch.next_obs, batch.reward), {}

    def cumulant(self, o: O, obs: Array, next_obs: Array, reward: Array) -> Array:
        """What psi sums up.

        Arguments: the state; transitions, with the environment's reward [...].
        Returns: their cumulants [..., d].
        """
        return jnp.zeros((*reward.shape, self.dim))

    def critic_loss(self, o: O, critics: Critics, batch: Batch, cumulant: Array) -> tuple[Array, Array]:
        """What the critics descend.

        Arguments: the state after `update`; the critics; the minibatch and its cumulants [B, d], discounted
        and summed where targets have several steps.
        Returns: the loss; the regression target [B, d].
        """
        return td_loss(critics, batch, cumulant, self.twins)

    def weight(self, o: O, psi: Array, value: ValueFn, context: Context) -> tuple[Array | None, O, Metrics]:
        """The direction in which the actor is to climb.

        Arguments: the state after `update`; psi(s, pi(s)) [B, d] of the minibatch; the same of other states;
        the context at a step of the actor.
        Returns: the weight [d] of psi, or None where there is no value to climb; the state; metrics.
        """
        return jnp.full(1, self.scalar_weight), o, {"value": psi.mean()}

    def penalty(self, o: O, context: Context) -> Penalty | None:
        """A further term of the actor's loss.

        Arguments: the state; the context at a step of the actor.
        Returns: (obs -> pi(obs)) -> scalar, or None.
        """
        return None

    def refresh(self, o: O, obs: Array, length: Array, demos: ExpertStates, key: Array) -> tuple[O, Metrics]:
        """Learn from the episodes that `fresh` asks for.

        Arguments: the state; episodes obs [K, T+1, o] with `length` [K] transitions; the demonstrations.
        Returns: the state; metrics.
        """
        return o, {}

    def describe(self, o: O) -> Metrics:
        """What is worth telling of the state once per round, for the log.

        Arguments: the state. Returns: metrics.
        """
        return {}

    def score(self, o: O, obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """How good episodes are, for the assessment.

        Arguments: the state; episodes [N, T+1, o], with `length`, `terminated` and `returns` [N].
        Returns: [N], larger is better.
        """
        return jnp.zeros(obs.shape[0])

    def validate(self, policy: Any, demos: ExpertStates) -> Array:
        """How bad a policy is on what was held out, where `offline.validated`.

        Arguments: the policy (obs -> action); the demonstrations.
        Returns: its loss, [].
        """
        raise NotImplementedError
