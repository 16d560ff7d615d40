"""The compiled part of training: everything that runs on the device, over S seeds at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.agent import Agent, AgentState
from sfm.agents.nets import stacked
from sfm.agents.types import Context, Metrics
from sfm.training import programs
from sfm.training.buffer import Replay, Table, add, sample


def chosen(active: Any, new: Any, old: Any) -> Any:
    """`new` for the seeds that are active [S], `old` for the rest."""
    if active.shape[0] == 1:
        return new
    return jax.tree.map(lambda x, y: jnp.where(active.reshape(-1, *(1,) * (x.ndim - 1)), x, y), new, old)


class Device:
    """Jitted functions of an agent. The seed axis is there for one seed too, so there is one code path."""

    def __init__(self, agent: Agent, chunk: int, batch: int, unit: int | None = None):
        """`unit`: updates per call, a divisor of `chunk`; by default all of a chunk."""
        self.agent, self.chunk, self.batch = agent, chunk, batch
        self.unit = unit or chunk
        self.add = _add
        self.score, self.describe, self.refresh, self.validate, self._policies, self._adopt = _jitted(agent)
        self._updates = _jitted_updates(agent, batch, self.unit)
        self.updates: Callable[..., tuple[AgentState, Metrics]] = self._updates
        self.ready: Callable[..., Any] = lambda seconds=None: None  # waits until `updates` is compiled

    def init(self, draws: Sequence[np.random.Generator]) -> AgentState:
        return jax.device_put(stacked([self.agent.init(rng) for rng in draws]), may_alias=False)

    def adopt(self, state: AgentState, policy: Any) -> AgentState:
        """`state` with every seed's acting networks from one policy on the host."""
        return self._adopt(state, policy)

    def restart(self, state: AgentState, learner: Any, moments: Any) -> AgentState:
        """`state` with the networks of another learner of the same shape, and what they have seen."""
        return state._replace(learner=jax.jit(jax.vmap(self.agent.learner.restart))(learner), moments=moments)

    def policies(self, state: AgentState) -> list[Any]:
        """One acting policy per seed, on the host."""
        together = jax.device_get(self._policies(state))
        seeds = jax.tree.leaves(together)[0].shape[0]
        return [jax.tree.map(lambda x, i=i: x[i], together) for i in range(seeds)]

    def compile_ahead(self, recipe: str, *args: Any) -> None:
        """Start compiling `updates` for arguments like these, in another thread; see `programs.compiled`."""
        leaves, tree = jax.tree.flatten(args)
        shapes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves)
        self.ready = _compiling(self._updates, recipe, tree, shapes).result
        self.updates = lambda *args: self.ready()(*args)


# What is traced and compiled of an agent serves the next of equal settings in this process: another run.
_add = jax.jit(add, donate_argnums=0)


@lru_cache(maxsize=32)
def _jitted(agent: Agent) -> list[Callable[..., Any]]:
    describe = lambda state: agent.objective.describe(state.objective)  # noqa: E731
    functions = [
        (agent.score, 0),
        (describe, 0),
        (agent.refresh, (0, 0, 0, None, 0)),
        (agent.validate, (0, None)),
        (agent.policy, 0),
        (agent.adopt, (0, None)),
    ]
    return [jax.jit(jax.vmap(function, in_axes=axes)) for function, axes in functions]


@lru_cache(maxsize=32)
def _jitted_updates(agent: Agent, batch: int, unit: int) -> Any:
    return jax.jit(partial(_updates, agent, batch, unit), donate_argnums=0)


@lru_cache(maxsize=8)
def _compiling(jitted: Any, recipe: str, tree: Any, shapes: tuple[Any, ...]) -> Future[Any]:
    pool = ThreadPoolExecutor(1)
    begun = pool.submit(programs.compiled, jitted.__wrapped__, jax.tree.unflatten(tree, shapes), recipe)
    pool.shutdown(wait=False)
    return begun


def _updates(
    agent: Agent,
    batch: int,
    unit: int,
    state: AgentState,
    replay: Replay,
    table: Table,
    demos: Any,
    active: Array,
    keys: Array,
    first: Any = 0,
) -> tuple[AgentState, Metrics]:
    """`unit` updates of the `active` [S] seeds, and the mean of each metric [S]. Donates `state`.

    `first`: how many of the chunk, to which the keys belong, there were before.
    """

    # The replay is closed over by the scan, never carried through it; the step number has no seed axis,
    # so that the delayed actor stays a branch under vmap.
    @partial(jax.vmap, in_axes=(0, 0, 0, None, 0))
    def update(state: AgentState, replay: Replay, table: Table, step: Array, key: Array):
        objective = agent.objective
        k_batch, k_recent, k_update = jax.random.split(jax.random.fold_in(key, step), 3)
        rows = sample(replay, table, k_batch, batch, goals=objective.uses_goals, spec=agent.spec)
        recent = rows
        if objective.uses_recent:
            recent = sample(replay, table, k_recent, batch, recent=True)
        return agent.update(state, Context(rows, recent, demos, step, k_update))

    def body(state: AgentState, step: Array):
        return update(state, replay, table, step, keys)

    after, metrics = jax.lax.scan(body, state, first + jnp.arange(1, unit + 1))
    return chosen(active, after, state), jax.tree.map(lambda m: m.mean(0), metrics)
