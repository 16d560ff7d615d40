"""Replay on the device. Each state is stored once; next states, goals and episode ends come from the layout.

Episodes lie one after another in a ring of slots, an episode of L transitions in L+1 slots. One that comes in
parts grows where it lies, unless another came between. Which slots hold which episode is bookkeeping of the
host (`Layout`); the device sees it as a small table (`Table`).
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.nets import stacked
from sfm.agents.types import Batch, NStep, Spec
from sfm.errors import SfmError

GOAL_RATE = 0.02  # of the geometric distance to the goal


class Episodes(NamedTuple):
    """N finished episodes of up to T steps, on the host; rows beyond the length are padding."""

    obs: np.ndarray  # [N, T+1, o]
    action: np.ndarray  # [N, T, a]
    reward: np.ndarray  # [N, T]
    length: np.ndarray  # [N], transitions
    terminated: np.ndarray  # [N], True where the last state is terminal

    @property
    def returns(self) -> np.ndarray:
        """[N]."""
        return self.reward.sum(1)

    @property
    def states(self) -> list[np.ndarray]:
        """Those of each episode, [T+1, o], without padding."""
        return [obs[: length + 1] for obs, length in zip(self.obs, self.length, strict=True)]


class Replay(NamedTuple):
    """Slots of S seeds."""

    obs: Array  # [S, C, o]
    action: Array  # [S, C, a]
    reward: Array  # [S, C]


class Table(NamedTuple):
    """Episodes in the ring, oldest first; unused rows have `first` at the end of all counts."""

    start: Array  # [S, E], slot of the first state
    first: Array  # [S, E], transitions in all earlier rows
    length: Array  # [S, E]
    terminated: Array  # [S, E]
    total: Array  # [S], transitions in all
    visit: Array  # [S, E], visits in all earlier rows: transitions of episodes that began where the task does
    visits: Array  # [S], visits in all
    recent: Array  # [S] or [S, K], how many of the newest visits are recent: one window, or K in turn


def empty(seeds: int, capacity: int, obs_dim: int, action_dim: int) -> Replay:
    shapes = ((seeds, capacity, obs_dim), (seeds, capacity, action_dim), (seeds, capacity))
    return Replay(*(jnp.zeros(shape, jnp.float32) for shape in shapes))


class Layout:
    """Where the episodes of one seed lie. Overwrites the oldest."""

    def __init__(self, capacity: int, rows: int):
        self.capacity, self.rows, self.head = capacity, rows, 0
        self.episodes: deque[tuple[int, int, bool, bool]] = deque()  # start, length, terminated, visited

    @classmethod
    def holding(cls, transitions: int, longest: int) -> "Layout":
        """Of so many transitions, of episodes of up to `longest` steps: each takes a slot more."""
        capacity = transitions + transitions // longest + longest + 1
        return cls(capacity, capacity // min(longest + 1, 16) + 1)

    def place(self, length: int, terminated: bool, visited: bool = True, *, goes_on: bool = False) -> int:
        """Make room for an episode or, if it `goes_on`, for more of the last one; returns its first slot.
        `visited`: whether its transitions count as visits."""
        if goes_on and self.episodes and self.head + length <= self.capacity:
            whole, before, *_ = self.episodes.pop()
            start = self.head - 1  # of the state where the last part ended
        else:
            if self.head + length + 1 > self.capacity:  # an episode never wraps around
                while self.episodes and self.episodes[0][0] >= self.head:
                    self.episodes.popleft()
                self.head = 0
            whole = start = self.head
            before = 0
        self.head = start + length + 1
        while self.episodes and (len(self.episodes) >= self.rows or self._overlaps(start)):
            self.episodes.popleft()
        self.episodes.append((whole, before + length, terminated, visited))
        return start

    def _overlaps(self, start: int) -> bool:
        old, length, *_ = self.episodes[0]
        return old < self.head and old + length + 1 > start

    def table(self) -> Table:
        """One seed's rows, on the host."""
        start, length = np.zeros(self.rows, np.int32), np.zeros(self.rows, np.int32)
        terminated, visited = np.zeros(self.rows, bool), np.zeros(self.rows, bool)
        for i, row in enumerate(self.episodes):
            start[i], length[i], terminated[i], visited[i] = row
        counted = np.where(visited, length, 0)
        first, visit = (np.cumsum(n, dtype=np.int32) - n.astype(np.int32) for n in (length, counted))
        first[len(self.episodes) :] = visit[len(self.episodes) :] = np.iinfo(np.int32).max
        total, visits = np.int32(length.sum()), np.int32(counted.sum())
        rows: Any = (start, first, length, terminated, total, visit, visits, visits)
        return Table(*rows)

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {"head": np.int64(self.head), "episodes": np.array(self.episodes, np.int64).reshape(-1, 4)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self.head = int(state["head"])
        rows = state["episodes"]
        visited = rows[:, 3] if rows.shape[1] > 3 else np.ones(len(rows))  # older checkpoints: all are visits
        every = zip(*rows[:, :3].T, visited, strict=True)
        self.episodes = deque((int(s), int(n), bool(t), bool(v)) for s, n, t, v in every)


def stack_tables(layouts: list[Layout]) -> Table:
    return stacked([layout.table() for layout in layouts])


def rows_of(
    layouts: list[Layout],
    episodes: Sequence[Episodes | None],
    *,
    go_on: bool = False,
    visited: int | None = None,
) -> tuple[np.ndarray, ...]:
    """Place the episodes of each seed (None: it adds nothing); slots [S, R], obs, action and reward rows.

    If they `go_on`, each seed's one episode is the next part of what it added last. The first `visited` of
    each seed count as visits, or all.
    """
    some = next(e for e in episodes if e is not None)
    n, states = some.obs.shape[:2]
    slots = np.full((len(layouts), n, states), layouts[0].capacity, np.int32)  # beyond the end: dropped
    everyone = [e or some._replace(length=np.zeros(n, np.int32)) for e in episodes]
    for s, (layout, e) in enumerate(zip(layouts, everyone, strict=True)):
        for i in np.flatnonzero(e.length):
            length = int(e.length[i])
            counts = visited is None or bool(i < visited)
            start = layout.place(length, bool(e.terminated[i]), counts, goes_on=go_on)
            slots[s, i, : length + 1] = start + np.arange(length + 1)
    action = np.pad(np.stack([e.action for e in everyone]), ((0, 0), (0, 0), (0, 1), (0, 0)))
    reward = np.pad(np.stack([e.reward for e in everyone]), ((0, 0), (0, 0), (0, 1)))
    rows = (slots, np.stack([e.obs for e in everyone]), action, reward)
    return tuple(r.reshape(len(layouts), n * states, *r.shape[3:]) for r in rows)


def add(replay: Replay, slots: Array, obs: Array, action: Array, reward: Array) -> Replay:
    """Write rows [S, R, ...] to slots [S, R]; jit with `replay` donated."""

    def write(ring: Array, slots: Array, rows: Array) -> Array:
        return ring.at[slots].set(rows, mode="drop")

    rows = Replay(obs, action, reward)
    return Replay(*(jax.vmap(write)(ring, slots, new) for ring, new in zip(replay, rows, strict=True)))


def sample(
    replay: Replay,
    table: Table,
    key: Array,
    count: int,
    *,
    goals: bool = False,
    recent: bool = False,
    spec: Spec | None = None,
) -> Batch:
    """`count` transitions of one seed, uniform with replacement.

    `recent`: of the recent visits, one from each of `count` equal spans of time; so their mean is closer to
    that of all recent ones than if they were independent. Several windows of recent visits are taken in turn,
    each with as many spans. With a `spec`, also what follows each within `spec.n_step` steps.
    """
    k_index, k_goal = jax.random.split(key)
    if recent:
        windows = table.recent.size  # row j has window j % windows, and of it the span j // windows
        window, span = jnp.resize(table.recent, (count,)), jnp.arange(count) // windows
        ago = (span + jax.random.uniform(k_index, (count,))) * windows / count * window
        index = table.visits - 1 - jnp.clip(ago.astype(jnp.int32), 0, window - 1)
    else:
        index = jax.random.randint(k_index, (count,), 0, table.total)
    first = table.visit if recent else table.first
    row = jnp.searchsorted(first, index, side="right") - 1
    time = index - first[row]
    slot = table.start[row] + time
    last = time == table.length[row] - 1
    next_obs = replay.obs[slot + 1]
    goal = next_obs
    if goals:
        ahead = jax.random.geometric(k_goal, GOAL_RATE, (count,))
        goal = replay.obs[table.start[row] + jnp.minimum(time + ahead, table.length[row])]
    return Batch(
        replay.obs[slot],
        replay.action[slot],
        next_obs,
        replay.reward[slot],
        1.0 - (last & table.terminated[row]).astype(jnp.float32),
        goal,
        n_step=_n_step(replay, table, row, time, spec) if spec and spec.n_step > 1 else None,
    )


def _n_step(replay: Replay, table: Table, row: Array, time: Array, spec: Spec) -> NStep:
    """What follows the transitions at `time` [B] of the episodes in `row` [B]."""
    n, left = spec.n_step, table.length[row] - time  # left: transitions to the end, at least 1
    slot = table.start[row] + time
    k = jnp.arange(1, n)
    path = slot[:, None] + jnp.minimum(k, left[:, None])  # past the end: its last state, with weight 0
    steps = jnp.minimum(n, left)
    ends = (steps == left) & table.terminated[row]
    return NStep(
        replay.obs[path],
        replay.obs[slot[:, None] + jnp.minimum(k + 1, left[:, None])],
        replay.reward[path],
        jnp.where(k < left[:, None], spec.gamma**k, 0.0),
        replay.obs[slot + steps],
        jnp.where(ends, 0.0, spec.gamma**steps),
    )


def slots_used(layouts: list[Layout]) -> int:
    """Slots below which everything stored lies, over all seeds."""
    return max((start + n + 1 for layout in layouts for start, n, *_ in layout.episodes), default=0)


def to_host(replay: Replay, used: int) -> dict[str, Any]:
    return {name: np.asarray(ring[:, :used]) for name, ring in replay._asdict().items()}


def from_host(replay: Replay, arrays: dict[str, np.ndarray]) -> Replay:
    room, need = replay.obs.shape[1], arrays["obs"].shape[1]
    if need > room:
        raise SfmError(f"what was stored takes {need:,} places of the replay, and this one has {room:,}")
    return Replay(*(ring.at[:, : arrays[n].shape[1]].set(arrays[n]) for n, ring in replay._asdict().items()))
