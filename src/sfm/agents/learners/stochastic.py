"""A tanh-Gaussian actor with an entropy bonus, and a vector critic."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners import base
from sfm.agents.learners.policies import GaussianPolicy
from sfm.agents.nets import Critic, over_twins, twin_value, twins_of
from sfm.agents.optim import Trained, adam, copy, polyak
from sfm.agents.types import Batch, Metrics, Spec
from sfm.config import StochasticConfig


class StochasticState(NamedTuple):
    actor: Trained[GaussianPolicy]
    critic: Trained[Critic]  # twins, stacked
    target_critic: Critic


class Stochastic:
    def __init__(self, config: StochasticConfig, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator, dim: int, critics: int = 2) -> StochasticState:
        c = self.config
        actor, critic = base.plain_nets(c, self.spec, rng, 2 * self.spec.action_dim, dim, critics)
        return StochasticState(
            Trained.create(
                GaussianPolicy(actor, c.log_std_min, c.log_std_max), base.actor_adam(c, self.spec)
            ),
            Trained.create(critic, adam(c.lr_critic)),
            copy(critic),
        )

    def adopt(self, s: StochasticState, policy: GaussianPolicy) -> StochasticState:
        return s._replace(actor=s.actor.holding(policy))

    def restart(self, s: StochasticState) -> StochasticState:
        return StochasticState(s.actor.restarted(), s.critic.restarted(), copy(s.critic.net))

    def sample(self, policy: GaussianPolicy, obs: Array, key: Array) -> tuple[Array, Array]:
        """One reparameterised action [B, a] and its log-probability [B]."""
        mean, log_std = policy.moments(obs)
        noise = jax.random.normal(key, mean.shape)
        before = mean + jnp.exp(log_std) * noise
        log_prob = (-0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)
        if self.config.tanh_correction:
            # log(1 - tanh(x)^2) in a form that does not underflow
            log_prob -= (2 * (math.log(2) - before - jax.nn.softplus(-2 * before))).sum(-1)
        return jnp.tanh(before), log_prob

    def critic_step(
        self, s: StochasticState, batch: Batch, loss: base.CriticLoss, key: Array
    ) -> tuple[StochasticState, Metrics]:
        k_next, k_pi = jax.random.split(key)
        target = twins_of(s.target_critic)

        def bootstrap(twins: str) -> Array:
            obs, discount = batch.bootstrap_from(self.spec.gamma)
            action, _ = self.sample(s.actor.net, obs, k_next)
            return discount * over_twins(target(obs, action), twins)

        def pi(obs: Array) -> tuple[Array, Array]:
            action, log_prob = self.sample(s.actor.net, obs, k_pi)
            return action, -self.config.temperature * log_prob

        rest = {"target": target, "pi": pi, "bootstrap": bootstrap}
        critic, _, metrics = base.fit_critics(s.critic, twins_of, loss, **rest)
        return s._replace(critic=critic), metrics

    def actor_step(
        self, s: StochasticState, batch: Batch, penalty: base.Penalty | None, key: Array
    ) -> tuple[Array, base.Climb[StochasticState]]:
        def value(net: GaussianPolicy):
            action, log_prob = self.sample(net, batch.obs, key)
            psi = twin_value(s.critic.net, self.config.actor_twin, batch.obs, action)
            entropy = -log_prob.mean()
            held = base.pretanh_penalty(self.config, net.moments(batch.obs)[0])
            return (psi, self.config.temperature * entropy - held), {"entropy": entropy}

        return base.climbing(s, s.actor, value, lambda net: net, penalty)

    def value(self, s: StochasticState, obs: Array, key: Array, *, target: bool = False) -> Array:
        action, _ = self.sample(s.actor.net, obs, key)
        return twin_value(s.target_critic if target else s.critic.net, "first", obs, action)

    def sync(self, s: StochasticState, step: Array) -> StochasticState:
        return s._replace(target_critic=polyak(s.target_critic, s.critic.net, self.config.polyak))

    def policy(self, s: StochasticState) -> Any:
        return s.actor.net
