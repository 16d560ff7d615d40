"""What the compiled part does with seeds that wait."""

import jax.numpy as jnp
import numpy as np

from sfm.training.device import chosen


def test_seeds_that_are_not_active_keep_what_they_have():
    new, old = ({"x": jnp.full((3, 2), v), "y": jnp.full(3, v)} for v in (1.0, 0.0))
    got = chosen(np.array([True, False, True]), new, old)
    np.testing.assert_array_equal(got["x"], [[1, 1], [0, 0], [1, 1]])
    np.testing.assert_array_equal(got["y"], [1, 0, 1])


def test_a_single_seed_is_always_active():
    new = {"x": jnp.ones((1, 2))}
    assert chosen(np.array([True]), new, {"x": jnp.zeros((1, 2))}) is new
