"""An inverse action model: which action led from s to s'? It learns from the agent's own transitions."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from sfm.agents.nets import MLP, joined
from sfm.agents.optim import Moments, Trained, adam, standardised
from sfm.agents.types import Batch, Spec
from sfm.config import InverseConfig

MIN_SPREAD = 0.1  # of a coordinate, where it is standardised


def standardised_pair(moments: Moments, obs: Array, next_obs: Array) -> Array:
    """(s, s') with zero mean and about unit spread, [..., 2 o]."""
    mean, spread = moments.mean_and_spread()
    spread = jnp.maximum(spread, MIN_SPREAD)
    return joined(standardised(obs, mean, spread), standardised(next_obs, mean, spread))


class InverseModel(NamedTuple):
    trained: Trained[MLP]
    moments: Moments  # of the states it has learned from

    @classmethod
    def create(cls, config: InverseConfig, spec: Spec, rng: np.random.Generator) -> "InverseModel":
        sizes = (2 * spec.obs_dim, config.width, config.width, spec.action_dim)
        net = MLP(sizes, rng, activation="tanh", init="lecun")
        return cls(Trained.create(net, adam(config.lr)), Moments.zeros(spec.obs_dim))

    def __call__(self, obs: Array, next_obs: Array) -> Array:
        """The action [..., a] that led from obs to next_obs."""
        return self.trained.net(standardised_pair(self.moments, obs, next_obs))

    def fit(self, config: InverseConfig, batch: Batch) -> tuple["InverseModel", Array]:
        """One step down the squared error, with weight decay. Returns (model, squared error)."""
        moments = self.moments.add(batch.obs)
        pair = standardised_pair(moments, batch.obs, batch.next_obs)

        def loss(net: MLP):
            error = jnp.square(net(pair) - batch.action).mean()
            return error + 0.5 * config.decay * optax.tree.norm(net, squared=True), error

        trained, _, error = self.trained.step(loss)
        return InverseModel(trained, moments), error
