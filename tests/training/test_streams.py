import jax
import numpy as np

from sfm.training.rollout import TRAIN, reset_seed
from sfm.training.streams import ACT, FIT, FRESH, INIT, UPDATE, WARM, draws, key


def test_no_two_streams_share_a_key():
    """Splitting a key and folding a number into it give equal keys, so what is split has its own stream."""
    init, fit = jax.random.split(key(1, INIT, 0), 8), jax.random.split(key(1, FIT, 0), 3)
    others = [key(1, stream, count) for stream in (ACT, UPDATE, WARM) for count in range(8)]
    keys = (*init, *fit, key(1, FRESH, 0), key(2, FRESH, 0), *others)
    assert len({tuple(np.asarray(jax.random.key_data(k)).tolist()) for k in keys}) == len(keys)


def test_draws_repeat_and_differ_by_seed_stream_and_count():
    def numbers(*place):
        return tuple(draws(*place).random(3))

    places = [(0, ACT, 0), (1, ACT, 0), (0, FRESH, 0), (0, ACT, 1)]
    assert len({numbers(*place) for place in places}) == 4
    assert numbers(0, ACT, 1) == numbers(0, ACT, 1)
    assert draws(0, TRAIN, 0).bit_generator.seed_seq.generate_state(1)[0] != reset_seed(0, TRAIN, 0)
