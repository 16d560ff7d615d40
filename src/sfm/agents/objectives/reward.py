"""The environment's reward: d = 1, weight 1. Trains experts."""

from typing import Any

import numpy as np
from jax import Array

from sfm.agents.learners.base import td_loss
from sfm.agents.objectives.base import Objective, weigh_scalar
from sfm.agents.types import Batch, Metrics, Spec, Weigh
from sfm.config import RewardConfig

__all__ = ["Reward"]


class Reward(Objective[tuple[()]]):
    def __init__(self, config: RewardConfig, spec: Spec):
        self.critic_loss = td_loss("min")

    def init(self, rng: np.random.Generator) -> tuple[()]:
        return ()

    def update(self, o: Any, batch: Batch, *_: Any) -> tuple[Any, Array, Metrics]:
        return o, self.cumulant(o, batch.obs, batch.next_obs, batch.reward), {}

    def cumulant(self, o: Any, obs: Array, next_obs: Array, reward: Array) -> Array:
        return reward[..., None]

    def weigh(self, o: Any, *_: Any) -> Weigh:
        return weigh_scalar(o)

    def score(self, o: Any, obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        return returns
