"""Features trained on fresh episodes to tell the policy's states from the expert's."""

import jax
import jax.numpy as jnp
from jax import Array

from sfm.agents.objectives.features import Trunk, make_trunk
from sfm.agents.optim import Trained, adam
from sfm.agents.types import Batch, Metrics, Spec
from sfm.config import FeatureConfig

__all__ = ["Adversarial", "draw_states", "gradient_penalty"]


def draw_states(key: Array, obs: Array, length: Array, count: int) -> Array:
    """`count` states, uniform over the first `length` states of each episode obs [K, T+1, o]."""
    valid = jnp.arange(obs.shape[1])[None] < length[:, None]
    logits = jnp.where(valid, 0.0, -jnp.inf).reshape(-1)
    return obs.reshape(-1, obs.shape[-1])[jax.random.categorical(key, logits, shape=(count,))]


def gradient_penalty(f, key: Array, a: Array, b: Array, norm: float) -> Array:
    """mean (||grad f(x)|| - norm)^2 at x between rows of a and b [N, o]; f: [o] -> scalar."""
    u = jax.random.uniform(key, (a.shape[0], 1))
    grads = jax.vmap(jax.grad(f))(u * a + (1 - u) * b)
    return jnp.square(jnp.sqrt(jnp.square(grads).sum(-1) + 1e-12) - norm).mean()


class Adversarial:
    def __init__(self, config: FeatureConfig, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, key: Array) -> Trained[Trunk]:
        c = self.config
        return Trained.create(make_trunk(c, self.spec, key), adam(c.lr, c.lr_final, c.decay_updates))

    def phi(self, f: Trained[Trunk], obs: Array) -> Array:
        return f.net(obs)

    def learn(self, f: Trained[Trunk], batch: Batch) -> tuple[Trained[Trunk], Array, Metrics]:
        return f, f.net(batch.obs), {}

    def fit(
        self, f: Trained[Trunk], agent: Array, expert: Array, key: Array
    ) -> tuple[Trained[Trunk], Metrics]:
        """One step up the squared gap between mean features, with a gradient penalty along it."""
        c = self.config

        def loss(net: Trunk):
            delta = net(expert).mean(0) - net(agent).mean(0)
            gap = jnp.square(delta).sum()
            w = jax.lax.stop_gradient(delta / (jnp.linalg.norm(delta) + 1e-12))
            penalty = gradient_penalty(lambda x: net(x) @ w, key, agent, expert, c.penalty_norm)
            return -gap + c.penalty * penalty, gap

        f, value, gap = f.step(loss)
        return f, {"feature_loss": value, "feature_gap": gap}
