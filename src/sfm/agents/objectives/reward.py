"""The environment's reward: d = 1, weight 1. Trains experts."""

import numpy as np
from jax import Array

from sfm.agents.objectives.base import Objective
from sfm.config import RewardConfig


class Reward(Objective[RewardConfig, tuple[()]], config=RewardConfig):
    def init(self, rng: np.random.Generator) -> tuple[()]:
        return ()

    def cumulant(self, o: tuple[()], obs: Array, next_obs: Array, reward: Array) -> Array:
        return reward[..., None]

    def score(self, o: tuple[()], obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        return returns
