"""TD3 (Fujimoto et al. 2018) with a vector critic."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners import base
from sfm.agents.learners.policies import DeterministicPolicy
from sfm.agents.nets import MLP, Critic, over_twins, twin_value, twins_of
from sfm.agents.optim import Trained, adam, copy, polyak
from sfm.agents.types import Batch, Metrics, Spec
from sfm.config import TD3Config


class TD3State(NamedTuple):
    actor: Trained[MLP]
    critic: Trained[Critic]  # twins, stacked
    target_critic: Critic
    target_actor: MLP | None  # None where the online actor acts in the target


class TD3:
    def __init__(self, config: TD3Config, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator, dim: int, critics: int = 2) -> TD3State:
        c = self.config
        actor, critic = base.plain_nets(c, self.spec, rng, self.spec.action_dim, dim, critics)
        return self._start(
            Trained.create(actor, base.actor_adam(c, self.spec)), Trained.create(critic, adam(c.lr_critic))
        )

    def _start(self, actor: Trained[MLP], critic: Trained[Critic]) -> TD3State:
        target_actor = None if self.config.target_actor == "online" else copy(actor.net)
        return TD3State(actor, critic, copy(critic.net), target_actor)

    def adopt(self, s: TD3State, policy: DeterministicPolicy) -> TD3State:
        return s._replace(actor=s.actor.holding(policy.actor))

    def restart(self, s: TD3State) -> TD3State:
        return self._start(s.actor.restarted(), s.critic.restarted())

    def critic_step(
        self, s: TD3State, batch: Batch, loss: base.CriticLoss, key: Array
    ) -> tuple[TD3State, Metrics]:
        c = self.config
        target = twins_of(s.target_critic)

        def bootstrap(twins: str) -> Array:
            obs, discount = batch.bootstrap_from(self.spec.gamma)
            action = jnp.tanh((s.actor.net if s.target_actor is None else s.target_actor)(obs))
            action = action + base.smoothing_noise(key, action, c.target_noise, c.target_noise_clip)
            return discount * over_twins(target(obs, action.clip(-1, 1)), twins)

        def pi(obs: Array) -> tuple[Array, Array]:
            return jnp.tanh(s.actor.net(obs)), jnp.zeros(obs.shape[0])

        critic, _, metrics = base.fit_critics(
            s.critic, twins_of, loss, target=target, bootstrap=bootstrap, pi=pi
        )
        return s._replace(critic=critic), metrics

    def actor_step(
        self, s: TD3State, batch: Batch, penalty: base.Penalty | None, key: Array
    ) -> tuple[Array, base.Climb[TD3State]]:
        def value(net: MLP):
            before = net(batch.obs)
            psi = twin_value(s.critic.net, self.config.actor_twin, batch.obs, jnp.tanh(before))
            return (psi, -base.pretanh_penalty(self.config, before)), {}

        return base.climbing(s, s.actor, value, lambda net: lambda obs: jnp.tanh(net(obs)), penalty)

    def value(self, s: TD3State, obs: Array, key: Array, *, target: bool = False) -> Array:
        critic = s.target_critic if target else s.critic.net
        return twin_value(critic, "first", obs, jnp.tanh(s.actor.net(obs)))

    def sync(self, s: TD3State, step: Array) -> TD3State:
        c = self.config

        def move(s: TD3State) -> TD3State:
            moved = s._replace(target_critic=polyak(s.target_critic, s.critic.net, c.polyak))
            if s.target_actor is not None:
                moved = moved._replace(target_actor=polyak(s.target_actor, s.actor.net, c.polyak))
            return moved

        if c.polyak_on == "every_step":
            return move(s)
        return jax.lax.cond(step % c.actor_delay == 0, move, lambda s: s, s)

    def policy(self, s: TD3State) -> Any:
        return DeterministicPolicy(s.actor.net, self.config.explore_noise)
