"""The compiled part of training: everything that runs on the device, over S seeds at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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
        self.add = jax.jit(add, donate_argnums=0)
        self.score = jax.jit(jax.vmap(agent.score))
        self.describe = jax.jit(jax.vmap(lambda state: agent.objective.describe(state.objective)))
        self.refresh = jax.jit(jax.vmap(agent.refresh, in_axes=(0, 0, 0, None, 0)))
        self.validate = jax.jit(jax.vmap(agent.validate, in_axes=(0, None)))
        self._policies = jax.jit(jax.vmap(agent.policy))
        self.updates: Callable[..., tuple[AgentState, Metrics]] = jax.jit(self._updates, donate_argnums=0)
        self.ready: Callable[..., Any] = lambda seconds=None: None  # waits until `updates` is compiled

    def init(self, draws: Sequence[np.random.Generator]) -> AgentState:
        return jax.device_put(stacked([self.agent.init(rng) for rng in draws]), may_alias=False)

    def adopt(self, state: AgentState, policy: Any) -> AgentState:
        """`state` with every seed's acting networks from one policy on the host."""
        return jax.jit(jax.vmap(self.agent.adopt, in_axes=(0, None)))(state, policy)

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
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), args)
        pool = ThreadPoolExecutor(1)
        self.ready = pool.submit(programs.compiled, self._updates, shapes, recipe).result
        self.updates = lambda *args: self.ready()(*args)
        pool.shutdown(wait=False)

    def _updates(
        self,
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
            objective = self.agent.objective
            k_batch, k_recent, k_update = jax.random.split(jax.random.fold_in(key, step), 3)
            spec, n = self.agent.spec, self.batch
            batch = sample(replay, table, k_batch, n, goals=objective.uses_goals, spec=spec)
            recent = batch
            if objective.uses_recent:
                recent = sample(replay, table, k_recent, n, recent=True)
            return self.agent.update(state, Context(batch, recent, demos, step, k_update))

        def body(state: AgentState, step: Array):
            return update(state, replay, table, step, keys)

        after, metrics = jax.lax.scan(body, state, first + jnp.arange(1, self.unit + 1))
        return chosen(active, after, state), jax.tree.map(lambda m: m.mean(0), metrics)
