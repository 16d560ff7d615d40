"""Random numbers that are a pure function of (seed, stream, count), so that a resumed run repeats them."""

import jax
import numpy as np

ACT, UPDATE, FRESH, FIT, INIT, WARM, RESET = range(7)


def key(seed: int, stream: int, count: int) -> jax.Array:
    """For what is random on the device."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), stream), count)


def draws(seed: int, stream: int, count: int) -> np.random.Generator:
    """For what is random on the host, where there is nothing to compile."""
    return np.random.default_rng((seed, stream, count, 1))  # reset seeds have no fourth number
