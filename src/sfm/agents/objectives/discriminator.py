"""State-only moment matching and GAIfO: the reward is minus a cost that fresh episodes keep adversarial.

The cost sees s (moment matching) or s and s' (GAIfO). Rewards are computed when a minibatch is drawn, so
every refresh of the cost relabels the whole replay.
"""

import jax
import numpy as np
from jax import Array

from sfm.agents.nets import MLP, joined
from sfm.agents.objectives.base import Objective, Refresh
from sfm.agents.objectives.cost import draw_pairs, episode_mean, fit_cost, make_cost
from sfm.agents.optim import Trained
from sfm.agents.types import Context, ExpertStates, Metrics, Spec
from sfm.config import DiscriminatorConfig


class Discriminator(Objective[DiscriminatorConfig, Trained[MLP]], config=DiscriminatorConfig):
    def __init__(self, config: DiscriminatorConfig, spec: Spec):
        super().__init__(config, spec)
        self.fresh = Refresh(config.refresh_every, config.refresh_episodes, config.refresh_counted)

    def init(self, rng: np.random.Generator) -> Trained[MLP]:
        c, states = self.config, 2 if self.config.sees == "pair" else 1
        steps = self.spec.refreshes * c.refresh_updates
        return make_cost(c.cost, states * self.spec.matched_dim, steps, rng)

    def _seen(self, obs: Array, next_obs: Array) -> Array:
        obs, next_obs = self.spec.part(obs), self.spec.part(next_obs)
        return joined(obs, next_obs) if self.config.sees == "pair" else obs

    def reward(self, f: Trained[MLP], obs: Array, next_obs: Array) -> Array:
        """-f [..., 1]."""
        return -f.net(self._seen(obs, next_obs))

    def update(self, o: Trained[MLP], context: Context) -> tuple[Trained[MLP], Array, Metrics]:
        reward = self.reward(o, context.batch.obs, context.batch.next_obs)
        return o, reward, {"reward": reward.mean()}

    def cumulant(self, o: Trained[MLP], obs: Array, next_obs: Array, reward: Array) -> Array:
        return self.reward(o, obs, next_obs)

    def refresh(
        self, o: Trained[MLP], obs: Array, length: Array, demos: ExpertStates, key: Array
    ) -> tuple[Trained[MLP], Metrics]:
        c = self.config

        def step(f: Trained[MLP], key: Array) -> tuple[Trained[MLP], Metrics]:
            k_expert, k_agent, k_fit = jax.random.split(key, 3)
            expert = self._seen(*draw_pairs(k_expert, demos.obs, demos.length, c.refresh_batch))
            agent = self._seen(*draw_pairs(k_agent, obs, length, c.refresh_batch))
            return fit_cost(f, c.cost, expert, agent, k_fit)

        o, metrics = jax.lax.scan(step, o, jax.random.split(key, c.refresh_updates))
        return o, jax.tree.map(lambda m: m.mean(0), metrics)

    def score(self, o: Trained[MLP], obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """The mean reward of each episode."""
        return episode_mean(self.reward(o, obs[:, :-1], obs[:, 1:])[..., 0], length)
