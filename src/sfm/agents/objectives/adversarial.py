"""Features trained on fresh episodes to tell the policy's states from the expert's."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.objectives.cost import gradient_penalty
from sfm.agents.objectives.features import Trunk, make_trunk
from sfm.agents.optim import Trained, adam
from sfm.agents.types import Batch, ExpertStates, Metrics, Spec
from sfm.config import FeatureConfig


class Adversarial:
    def __init__(self, config: FeatureConfig, spec: Spec):
        self.config, self.spec = config, spec

    def init(self, rng: np.random.Generator) -> Trained[Trunk]:
        c, whole = self.config, max(self.spec.refreshes, 1)
        return Trained.create(make_trunk(c, self.spec, rng), adam(c.lr, c.lr_final, c.decay_updates or whole))

    def phi(self, f: Trained[Trunk]) -> Trunk:
        return f.net

    def learn(
        self, f: Trained[Trunk], batch: Batch, demos: ExpertStates
    ) -> tuple[Trained[Trunk], Array, Metrics]:
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
