"""SFM with a psi that is linear in the state, shared by its tests."""

import jax
import numpy as np
from helpers import DIM, SPEC, context, rng, small_sfm

from sfm.agents.objectives.sfm import SFM

GAMMA = SPEC.gamma
KEY = jax.random.key(2)
ONLINE, TARGET = np.random.default_rng(4).normal(size=(2, SPEC.obs_dim, DIM)).astype(np.float32)


def value(obs, key, target=False):
    """A psi that is linear in the state."""
    return obs @ (TARGET if target else ONLINE)


def objective(normalise="none", **changes):
    sfm = SFM(small_sfm(**changes), SPEC._replace(normalise=normalise))
    return sfm, sfm.init(rng())


def turned(sfm, o, batch, **others):
    """The state after a turn."""
    return sfm.weight(o, value(batch.obs, KEY), value, context(batch, **others))[1]


def expert_features(sfm, o, demos):
    return jax.jit(lambda o, d: sfm.expert_features(o, value, d, KEY))(o, demos)
