"""The acting part of each learner. One definition acts in JAX (training) and in NumPy (everywhere else)."""

import equinox as eqx
from jax import Array

from sfm.agents.nets import MLP, Linear, avg_l1_norm, namespace
from sfm.agents.optim import standardised


def _explore(action, noise, scale: float):
    """action + Gaussian noise, kept in [-1, 1]; no noise: the action itself."""
    return action if noise is None else (action + scale * noise).clip(-1, 1)


class DeterministicPolicy(eqx.Module):
    """tanh of an MLP."""

    actor: MLP
    explore_noise: float = eqx.field(static=True)

    def __call__(self, obs, noise=None):
        return _explore(namespace(obs).tanh(self.actor(obs)), noise, self.explore_noise)


class StateEncoder(eqx.Module):
    """zs = AvgL1Norm(MLP(s)) [..., z]."""

    mlp: MLP

    def __call__(self, obs):
        return avg_l1_norm(self.mlp(obs))


class EmbeddedActor(eqx.Module):
    """tanh(MLP([AvgL1Norm(Linear(s)), zs]))."""

    stem: Linear
    mlp: MLP

    def before(self, obs, zs):
        """What tanh is given."""
        return self.mlp(avg_l1_norm(self.stem(obs)), zs)

    def __call__(self, obs, zs):
        return namespace(obs).tanh(self.before(obs, zs))


class EmbeddedPolicy(eqx.Module):
    """An actor that also sees the (fixed) embedding of the state."""

    actor: EmbeddedActor
    encoder: StateEncoder
    explore_noise: float = eqx.field(static=True)

    def __call__(self, obs, noise=None):
        return _explore(self.actor(obs, self.encoder(obs)), noise, self.explore_noise)


class GaussianPolicy(eqx.Module):
    """a = tanh(mean + std * noise); without noise tanh(mean)."""

    actor: MLP
    log_std_min: float = eqx.field(static=True)
    log_std_max: float = eqx.field(static=True)

    def moments(self, obs) -> tuple[Array, Array]:
        """mean and log-std of the Gaussian before tanh, each [..., a]."""
        mean, raw = namespace(obs).split(self.actor(obs), 2, axis=-1)
        half = 0.5 * (self.log_std_max - self.log_std_min)
        return mean, self.log_std_min + half * (namespace(obs).tanh(raw) + 1)

    def __call__(self, obs, noise=None):
        xp = namespace(obs)
        mean, log_std = self.moments(obs)
        return xp.tanh(mean if noise is None else mean + xp.exp(log_std) * noise)


class StandardisedPolicy(eqx.Module):
    """A policy that sees standardised states."""

    policy: eqx.Module
    mean: Array
    spread: Array

    def __call__(self, obs, noise=None):
        return self.policy(standardised(obs, self.mean, self.spread), noise)  # pyright: ignore
