"""Cloning, which plays no episodes: rounds of an offline objective, and the warm start of any other."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from sfm.agents.objectives import Offline
from sfm.training.device import Device
from sfm.training.keeping import Validated
from sfm.training.learn import Learning
from sfm.training.streams import WARM, key


def study(learning: Learning, plan: Offline, running: list[int]) -> dict[int, dict[str, Any]]:
    """A round: a chunk of updates, each of them a step. Keeps the latest or the best validated policy."""
    chunk, progress = learning.device.chunk, learning.progress
    for i in running:
        progress[i].steps += chunk
        progress[i].owed += chunk
    rows = {i: progress[i].row() for i in running}
    learning.start()
    learning.settle()
    learning.report(rows)
    losses = learning.device.validate(learning.state, learning.demos) if plan.validated else None
    for i in running:
        found = None if losses is None else Validated(float(np.asarray(losses)[i]), chunk)
        verdict = learning.policies.judge(i, progress[i], found)
        if found:
            rows[i] |= {"validation_loss": found.loss, "kept": int(verdict.keep)}
    return rows


def warm_start(learning: Learning, updates: int) -> None:
    """Begin with actors that have cloned the expert's actions."""
    agent, chunk, batch = learning.device.agent, learning.device.chunk, learning.device.batch
    cloner = Device(agent.cloner(), chunk, batch)
    data = learning.arguments(learning.experience.table())[1:5]  # all but the state and keys
    state = learning.state._replace(objective=())
    for k in range(math.ceil(updates / chunk)):
        keys = jnp.stack([key(p.seed, WARM, k) for p in learning.progress])
        state, _ = cloner.updates(state, *data, keys=keys)
    learning.state = learning.device.restart(learning.state, state.learner, state.moments)
    current = learning.device.policies(learning.state)
    learning.check(current)
    learning.policies.begin(current)
