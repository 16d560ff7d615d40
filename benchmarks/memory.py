"""What the replay costs."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import jax
import numpy as np

from benchmarks.measure import Row, Settings, grown
from sfm.config import ScheduleConfig
from sfm.training import buffer

__all__ = ["memory"]

SIZES = {"cheetah": (17, 6), "walker": (24, 6), "quadruped": (78, 12)}
STEPS = 1000  # per episode


def memory(settings: Settings) -> Iterator[Row]:
    """Bytes per transition of a full replay, and of the process at its peak, over those of its numbers."""
    transitions = ScheduleConfig.replay // (2 if settings.quick else 1)
    for name, (obs_dim, action_dim) in SIZES.items():
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
            stored, peak = fresh.submit(fill, transitions, obs_dim, action_dim).result()
        numbers = 4 * (obs_dim + action_dim + 1)  # state, action and reward
        yield (
            name,
            {
                "bytes_per_transition": stored,
                "peak_mb_per_million": peak,  # bytes per one
                "stored_over_numbers": stored / numbers,
                "peak_over_numbers": peak / numbers,
            },
        )


def fill(transitions: int, obs_dim: int, action_dim: int) -> tuple[float, float]:
    """Fill a replay episode by episode. Bytes per transition of its arrays, and by which the process grew."""
    layout = buffer.Layout.holding(transitions, STEPS)
    capacity = layout.capacity
    shapes = ((1, STEPS + 1, obs_dim), (1, STEPS, action_dim), (1, STEPS))
    obs, action, reward = (np.ones(shape, np.float32) for shape in shapes)
    episode = buffer.Episodes(obs, action, reward, np.full(1, STEPS), np.zeros(1, bool))
    rows = buffer.rows_of([buffer.Layout(capacity, 1)], [episode])
    # compiled ahead: that is not what is measured
    empty = jax.jit(lambda: buffer.empty(1, capacity, obs_dim, action_dim)).lower().compile()
    add = jax.jit(buffer.add, donate_argnums=0).lower(empty.out_info, *rows).compile()

    def filled() -> buffer.Replay:
        replay = empty()
        while layout.head + STEPS + 1 <= capacity:
            replay = add(replay, *buffer.rows_of([layout], [episode]))
        return jax.block_until_ready(replay)

    replay, peak = grown(filled)
    stored = sum(length for _, length, *_ in layout.episodes)
    table = sum(array.nbytes for array in layout.table())
    return (sum(array.nbytes for array in replay) + table) / stored, (peak + table) / stored
