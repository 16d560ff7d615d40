"""The environment's reward: d = 1, weight 1. Trains experts."""

from typing import Any

import jax.numpy as jnp
from jax import Array

from sfm.agents.learners.base import td_loss
from sfm.agents.objectives.base import unused
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec
from sfm.config import RewardConfig

__all__ = ["Reward"]


class Reward:
    dim = 1
    uses_goals = False
    uses_other = False
    fresh = None
    penalty = staticmethod(unused)

    def __init__(self, config: RewardConfig, spec: Spec):
        self.config = config
        self.critic_loss = td_loss(config.twins)

    def init(self, key: Array, demos: ExpertStates | None) -> tuple[()]:
        return ()

    def update(self, o: Any, batch: Batch, *_: Any) -> tuple[Any, Array, Metrics]:
        return o, self.config.scale * batch.reward[:, None], {}

    def weigh(self, o: Any, *_: Any):
        return lambda psi: (jnp.ones(1), (o, {"value": psi.mean()}))

    def refresh(self, o: Any, *_: Any) -> tuple[Any, Metrics]:
        return o, {}

    def score(self, o: Any, obs: Array, length: Array, returns: Array) -> Array:
        return returns
