"""TD7 (Fujimoto et al. 2023) with a vector critic: TD3 on learned state-action embeddings (SALE).

Three encoders: the one being trained; the *fixed* one, which critic and actor read; and the fixed
*target* one, which their targets read. Every `target_interval` updates each is copied to the next.
"""

import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners import base
from sfm.agents.learners.policies import EmbeddedActor, EmbeddedPolicy, StateEncoder
from sfm.agents.nets import MLP, Linear, all_twins, avg_l1_norm, ensemble, joined, over_twins, twin_value
from sfm.agents.optim import Trained, adam, copy, zeros
from sfm.agents.types import Batch, Metrics, Spec
from sfm.config import TD7Config


class Encoder(eqx.Module):
    """f: s -> zs and g: (zs, a) -> zsa, where zsa predicts the zs of the next state."""

    state: StateEncoder
    dynamics: MLP

    def __call__(self, obs: Array, action: Array) -> tuple[Array, Array]:
        zs = self.state(obs)
        return zs, self.dynamics(zs, action)


class EmbeddedCritic(eqx.Module):
    """psi from [AvgL1Norm(Linear([s, a])), zsa, zs]."""

    stem: Linear
    mlp: MLP

    def __call__(self, obs: Array, action: Array, zs: Array, zsa: Array) -> Array:
        return self.mlp(avg_l1_norm(self.stem(joined(obs, action))), zsa, zs)


class Bounds(NamedTuple):
    """Range of the regression targets seen so far."""

    low: Array  # []
    high: Array  # []


class TD7State(NamedTuple):
    encoder: Trained[Encoder]
    fixed: Encoder
    target_encoder: Encoder
    actor: Trained[EmbeddedActor]
    target_actor: EmbeddedActor
    critic: Trained[EmbeddedCritic]  # twins, stacked
    target_critic: EmbeddedCritic
    seen: Bounds
    clip: Bounds  # `seen` at the last copy


class TD7:
    def __init__(self, config: TD7Config, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator, dim: int, critics: int = 2) -> TD7State:
        c, o, a = self.config, self.spec.obs_dim, self.spec.action_dim
        w, z = c.width, c.embedding

        def net(*sizes: int, normed: bool = False) -> MLP:
            return MLP(sizes, rng, activation="elu", init=c.init, normed=normed)

        def make_critic() -> EmbeddedCritic:
            mlp = net(w + 2 * z, w, w, dim, normed=c.layer_norm)
            return EmbeddedCritic(Linear(o + a, w, c.init, rng), mlp)

        encoder = Encoder(StateEncoder(net(o, w, w, z)), net(z + a, w, w, z))
        stem = Linear(o, w, c.init, rng)
        actor = EmbeddedActor(stem, net(w + z, w, w, a, normed=c.actor_norm))
        critic = ensemble(make_critic, critics)
        return self._start(
            Trained.create(encoder, adam(c.lr_encoder)),
            Trained.create(actor, base.actor_adam(c, self.spec)),
            Trained.create(critic, adam(c.lr_critic)),
        )

    def _start(
        self, encoder: Trained[Encoder], actor: Trained[EmbeddedActor], critic: Trained[EmbeddedCritic]
    ) -> TD7State:
        # The first copy of the targets clips them to [0, 0]: until then the target is the cumulant alone.
        nothing = Bounds(zeros() + np.inf, zeros() - np.inf)
        return TD7State(
            encoder,
            copy(encoder.net),
            copy(encoder.net),
            actor,
            copy(actor.net),
            critic,
            copy(critic.net),
            nothing,
            Bounds(zeros(), zeros()),
        )

    def adopt(self, s: TD7State, policy: EmbeddedPolicy) -> TD7State:
        """The part of the encoder that sees actions stays young, and the other learns with it from the first
        update on: unlike with other learners, what a resting actor does changes a little."""
        encoder = s.encoder.holding(Encoder(policy.encoder, s.encoder.net.dynamics))
        return s._replace(encoder=encoder, actor=s.actor.holding(policy.actor))

    def restart(self, s: TD7State) -> TD7State:
        return self._start(s.encoder.restarted(), s.actor.restarted(), s.critic.restarted())

    def critic_step(
        self, s: TD7State, batch: Batch, loss: base.CriticLoss, key: Array
    ) -> tuple[TD7State, Metrics]:
        c = self.config
        target = functools.partial(_psi, s.target_critic, s.target_encoder)
        encoder, encoder_loss, _ = s.encoder.step(lambda net: (_encoder_loss(net, batch), None))

        def bootstrap(twins: str) -> Array:
            obs, discount = batch.bootstrap_from(self.spec.gamma)
            action = s.target_actor(obs, s.target_encoder.state(obs))
            action = action + base.smoothing_noise(key, action, c.target_noise, c.target_noise_clip)
            psi = over_twins(target(obs, action.clip(-1, 1)), twins)
            return discount * jnp.clip(psi, s.clip.low, s.clip.high)

        def pi(obs: Array) -> tuple[Array, Array]:
            return s.actor.net(obs, s.fixed.state(obs)), jnp.zeros(obs.shape[0])

        psi = lambda net: functools.partial(_psi, net, s.fixed)  # noqa: E731
        rest = {"target": target, "pi": pi, "bootstrap": bootstrap}
        critic, y, metrics = base.fit_critics(s.critic, psi, loss, **rest)
        seen = Bounds(jnp.minimum(s.seen.low, y.min()), jnp.maximum(s.seen.high, y.max()))
        return s._replace(encoder=encoder, critic=critic, seen=seen), metrics | {"encoder_loss": encoder_loss}

    def actor_step(
        self, s: TD7State, batch: Batch, penalty: base.Penalty | None, key: Array
    ) -> tuple[Array, base.Climb[TD7State]]:
        zs = s.fixed.state(batch.obs)

        def value(net: EmbeddedActor):
            before = net.before(batch.obs, zs)
            action = jnp.tanh(before)
            zsa = s.fixed.dynamics(zs, action)
            psi = twin_value(s.critic.net, self.config.actor_twin, batch.obs, action, zs, zsa)
            return (psi, -base.pretanh_penalty(self.config, before)), {}

        return base.climbing(s, s.actor, value, lambda net: lambda obs: net(obs, s.fixed.state(obs)), penalty)

    def value(self, s: TD7State, obs: Array, key: Array, *, target: bool = False) -> Array:
        critic, encoder = (s.target_critic, s.target_encoder) if target else (s.critic.net, s.fixed)
        action = s.actor.net(obs, s.fixed.state(obs))
        return twin_value(critic, "first", obs, action, *encoder(obs, action))

    def sync(self, s: TD7State, step: Array) -> TD7State:
        def copies(s: TD7State) -> TD7State:
            return s._replace(
                target_actor=s.actor.net,
                target_critic=s.critic.net,
                target_encoder=s.fixed,
                fixed=s.encoder.net,
                clip=s.seen,
            )

        return jax.lax.cond(step % self.config.target_interval == 0, copies, lambda s: s, s)

    def policy(self, s: TD7State) -> Any:
        return EmbeddedPolicy(s.actor.net, s.fixed.state, self.config.explore_noise)


def _encoder_loss(encoder: Encoder, batch: Batch) -> Array:
    """The embedding of (s, a) predicts the embedding of s'."""
    _, zsa = encoder(batch.obs, batch.action)
    return jnp.square(zsa - jax.lax.stop_gradient(encoder.state(batch.next_obs))).mean()


def _psi(critic: EmbeddedCritic, encoder: Encoder, obs: Array, action: Array) -> Array:
    """Stacked twins on the embeddings of (obs, action), [E, B, d]."""
    return all_twins(critic, obs, action, *encoder(obs, action))
