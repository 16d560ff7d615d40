"""What it saves, and what it loses, to recompute the expert's features only now and then."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.measure import Row, Settings, timed
from benchmarks.speed import prepared, shortened
from sfm import api
from sfm.agents.agent import make_agent
from sfm.config import Config
from sfm.envs import make
from sfm.presets import preset
from sfm.training.device import Device
from sfm.training.loop import Training

__all__ = ["expert"]

TASK = "walker_walk"
MARKS = (12_000, 48_000)  # steps at which to look: soon after the first update, and later


def expert(settings: Settings) -> Iterator[Row]:
    """How far the expert's features move until they are recomputed, over the gap; updates/s over always."""
    config = api.overridden(preset("fast"), {"task": TASK, "steps": MARKS[-1], "eval_every": 10**9})
    always = api.overridden(config, {"expert_interval": 1})
    often, seldom = timed(*(prepared(shortened(c)) for c in (always, config)), seconds=settings.seconds)
    demos, _ = api.find_demos(None, config)
    training, marks = Training(config, lambda: make(TASK), demos), list(MARKS[: 1 if settings.quick else 2])
    for rows in training.rounds():
        if marks and rows[0]["step"] >= marks[0]:
            moved = _moved_over_gap(training, always)
            yield (
                f"after {marks.pop(0):,} steps",
                {"moved_over_gap": moved, "seldom_over_always": often / seldom},
            )
        if not marks:
            break


def _moved_over_gap(training: Training, always: Config, times: int = 8) -> float:
    """Over `times` intervals of further updates, which the training itself does not see."""
    delay, interval = always.learner.actor_delay, training.config.objective.expert_interval  # pyright: ignore
    env = training.experience.env
    device = Device(make_agent(always, env.obs_dim, env.action_dim), delay, always.schedule.batch)
    seen, demos = training.experience, training.learning.demos
    table = jax.device_put(training.learning._table())
    state = jax.tree.map(jnp.copy, training.learning.state)
    now, gap = [], []
    for k in range(times * interval + 1):
        keys = jax.random.split(jax.random.key(k), 1)
        state, _ = device.updates(state, seen.replay, table, demos, jnp.ones(1, bool), keys)
        o = state.objective
        now.append(np.asarray(o.expert_now[0]))
        gap.append(np.asarray(jax.vmap(lambda o: o.expert.mean - o.policy.mean)(o)[0]))
    moved = np.array(now[interval::interval]) - np.array(now[:-interval:interval])
    return float(np.sqrt(np.square(moved).sum(1).mean() / np.square(np.array(gap)).sum(1).mean()))
