"""What the compiled part gives an agent, and what it does with seeds that wait."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sfm.agents.types import Spec
from sfm.training import buffer
from sfm.training.device import Device, chosen


def test_seeds_that_are_not_active_keep_what_they_have():
    new, old = ({"x": jnp.full((3, 2), v), "y": jnp.full(3, v)} for v in (1.0, 0.0))
    got = chosen(np.array([True, False, True]), new, old)
    np.testing.assert_array_equal(got["x"], [[1, 1], [0, 0], [1, 1]])
    np.testing.assert_array_equal(got["y"], [1, 0, 1])


def test_a_single_seed_is_always_active():
    new = {"x": jnp.ones((1, 2))}
    assert chosen(np.array([True]), new, {"x": jnp.zeros((1, 2))}) is new


STORED, ROWS, STEPS = 1000, 50, 40


class Recorder(SimpleNamespace):
    __hash__ = object.__hash__


def drawn(seeds: int = 1, recent: int = STORED, **wishes: Any) -> tuple[np.ndarray, np.ndarray, list]:
    """Numbers of the transitions in the minibatches of some updates, each [S, STEPS, ROWS], and their steps.

    The agent only writes down what it is given; states are the numbers of their transitions.
    """
    objective = SimpleNamespace(**{"uses_goals": False, "uses_recent": False} | wishes)

    def update(seen, context):
        i = context.step - 1
        rows = zip(seen, (context.batch, context.recent), strict=True)
        return tuple(old.at[i].set(new.obs[:, 0]) for old, new in rows), {"step": context.step * 1.0}

    unused = dict.fromkeys(("score", "refresh", "validate", "policy", "adopt"), lambda *_: None)
    agent = Recorder(objective=objective, spec=Spec(1, 1, 0.9), update=update, **unused)
    replay, layout = buffer.empty(seeds, STORED + 1, 1, 1), buffer.Layout(STORED + 1, 1)
    layout.place(STORED, False)
    replay = replay._replace(obs=jnp.tile(jnp.arange(STORED + 1.0)[:, None], (seeds, 1, 1)))
    table = buffer.stack_tables([layout] * seeds)._replace(recent=np.full(seeds, recent, np.int32))  # pyright: ignore
    device = Device(agent, STEPS, ROWS)  # pyright: ignore
    seen = tuple(jnp.zeros((seeds, STEPS, ROWS)) for _ in range(2))
    keys = jax.random.split(jax.random.key(0), seeds)
    (batch, recent), metrics = device.updates(seen, replay, table, None, jnp.ones(seeds, bool), keys)  # pyright: ignore
    return np.asarray(batch), np.asarray(recent), np.asarray(metrics["step"]).tolist()


def test_the_recent_minibatch_is_independent_of_the_other_where_asked_for():
    batch, recent, steps = drawn(seeds=2, uses_recent=True)
    assert steps == [(STEPS + 1) / 2] * 2  # counted from 1
    for one, other in ((batch, recent), (batch[:, 1:], batch[:, :-1]), (batch[0], batch[1])):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.1  # five times its spread
        assert (one == other).mean() < 0.01  # 1 in STORED
    assert recent.min() < 0.05 * STORED


def test_the_recent_minibatch_is_of_the_newest_transitions_where_asked_for():
    batch, recent, _ = drawn(uses_recent=True, recent=100)
    assert (recent.min(), recent.max()) == (STORED - 100, STORED - 1)
    assert batch.min() < 0.05 * STORED


def test_without_the_wish_there_is_one_minibatch():
    batch, recent, _ = drawn()
    np.testing.assert_array_equal(batch, recent)
    assert batch.mean() == pytest.approx(STORED / 2, rel=0.05)
