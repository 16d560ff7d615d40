"""State-only moment matching and GAIfO: the reward is minus a cost that fresh episodes keep adversarial.

The cost sees s (moment matching) or s and s' (GAIfO). Rewards are computed when a minibatch is drawn, so
every refresh of the cost relabels the whole replay.
"""

from typing import Any

import jax
import numpy as np
from jax import Array

from sfm.agents.learners.base import td_loss
from sfm.agents.nets import MLP, joined
from sfm.agents.objectives.base import Objective, Refresh, weigh_scalar
from sfm.agents.objectives.contrast import draw_pairs, episode_mean, fit_cost, make_cost
from sfm.agents.optim import Trained
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec, Weigh
from sfm.config import DiscriminatorConfig

__all__ = ["Discriminator"]


class Discriminator(Objective[Trained[MLP]]):
    def __init__(self, config: DiscriminatorConfig, spec: Spec):
        self.config, self.spec = config, spec
        self.critic_loss = td_loss("min")
        self.fresh = Refresh(config.refresh_every, config.refresh_episodes, config.refresh_counted)

    def init(self, rng: np.random.Generator) -> Trained[MLP]:
        states = 2 if self.config.sees == "pair" else 1
        return make_cost(self.config.cost, states * self.spec.obs_dim, rng)

    def _seen(self, obs: Array, next_obs: Array) -> Array:
        return joined(obs, next_obs) if self.config.sees == "pair" else obs

    def reward(self, f: Trained[MLP], obs: Array, next_obs: Array) -> Array:
        """-f [..., 1]."""
        return -f.net(self._seen(obs, next_obs))

    def update(self, f: Trained[MLP], batch: Batch, *_: Any) -> tuple[Trained[MLP], Array, Metrics]:
        reward = self.reward(f, batch.obs, batch.next_obs)
        return f, reward, {"reward": reward.mean()}

    def cumulant(self, o: Trained[MLP], obs: Array, next_obs: Array, reward: Array) -> Array:
        return self.reward(o, obs, next_obs)

    def weigh(self, f: Trained[MLP], *_: Any) -> Weigh:
        return weigh_scalar(f)

    def refresh(
        self, f: Trained[MLP], obs: Array, length: Array, demos: ExpertStates, key: Array
    ) -> tuple[Trained[MLP], Metrics]:
        c = self.config

        def step(f: Trained[MLP], key: Array) -> tuple[Trained[MLP], Metrics]:
            k_expert, k_agent, k_fit = jax.random.split(key, 3)
            expert = self._seen(*draw_pairs(k_expert, demos.obs, demos.length, c.refresh_batch))
            agent = self._seen(*draw_pairs(k_agent, obs, length, c.refresh_batch))
            return fit_cost(f, c.cost, expert, agent, k_fit)

        f, metrics = jax.lax.scan(step, f, jax.random.split(key, c.refresh_updates))
        return f, jax.tree.map(lambda m: m.mean(0), metrics)

    def score(self, f: Trained[MLP], obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """The mean reward of each episode."""
        return episode_mean(self.reward(f, obs[:, :-1], obs[:, 1:])[..., 0], length)
