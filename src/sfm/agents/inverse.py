"""An inverse action model: which action led from s to s'? It learns from the agent's own transitions.

Where demonstrations tell a part of s and s' alone, it sees that part and infers the rest of s as well, which
a policy needs to act there.
"""

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


def standardised_pair(moments: Moments, obs: Array, next_obs: Array, spec: Spec) -> Array:
    """What is matched of s and s', with zero mean and about unit spread, [..., 2 matched_dim]."""
    mean, spread = moments.mean_and_spread()
    spread = jnp.maximum(spread, MIN_SPREAD)
    return joined(*(spec.part(standardised(x, mean, spread)) for x in (obs, next_obs)))


class InverseModel(NamedTuple):
    trained: Trained[MLP]
    moments: Moments  # of the states it has learned from

    @classmethod
    def create(cls, config: InverseConfig, spec: Spec, rng: np.random.Generator) -> "InverseModel":
        hidden = spec.obs_dim - spec.matched_dim
        sizes = (2 * spec.matched_dim, config.width, config.width, spec.action_dim + hidden)
        net = MLP(sizes, rng, activation="tanh", init="lecun")
        return cls(Trained.create(net, adam(config.lr)), Moments.zeros(spec.obs_dim))

    def __call__(self, obs: Array, next_obs: Array, spec: Spec) -> tuple[Array, Array]:
        """From what is matched of two states [..., o]: the first state as a whole, and the action [..., a]
        that led from it to the other."""
        shown = self.trained.net(standardised_pair(self.moments, obs, next_obs, spec))
        action, rest = shown[..., : spec.action_dim], shown[..., spec.action_dim :]
        if spec.matched is None:
            return obs, action
        mean, spread = self.moments.mean_and_spread()
        hidden = spec.hidden
        rest = rest * jnp.maximum(spread[hidden], MIN_SPREAD) + mean[hidden]
        return obs.at[..., hidden].set(rest), action

    def fit(self, config: InverseConfig, batch: Batch, spec: Spec) -> tuple["InverseModel", Array]:
        """One step down the squared error, with weight decay. Returns (model, squared error of actions)."""
        moments = self.moments.add(batch.obs)
        pair = standardised_pair(moments, batch.obs, batch.next_obs, spec)
        mean, spread = moments.mean_and_spread()
        rest = standardised(batch.obs, mean, jnp.maximum(spread, MIN_SPREAD))[..., spec.hidden]

        def loss(net: MLP):
            shown = net(pair)
            error = jnp.square(shown[..., : spec.action_dim] - batch.action).mean()
            total = error + 0.5 * config.decay * optax.tree.norm(net, squared=True)
            if rest.shape[-1]:
                total += jnp.square(shown[..., spec.action_dim :] - rest).mean()
            return total, error

        trained, _, error = self.trained.step(loss)
        return InverseModel(trained, moments), error
