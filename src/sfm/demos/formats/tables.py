"""Tables with a row per state: matrices out of Arrow columns, demonstrations where the episode changes."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sfm.demos.stack import Stack
from sfm.errors import SfmError


class Block(NamedTuple):
    """Consecutive rows of one episode, perhaps not all: obs[n,o], action[n,a] or None, frame[n] or none, and
    reward[n] or None."""

    episode: float
    obs: np.ndarray
    action: np.ndarray | None
    frame: np.ndarray = np.empty(0)  # rises by 1 from row to row
    reward: np.ndarray | None = None


def runs(episode: np.ndarray) -> Iterator[slice]:
    """The rows of each run of equal numbers in episode[n]."""
    edges = [0, *(np.flatnonzero(np.diff(episode)) + 1), len(episode)]
    return (slice(*edge) for edge in itertools.pairwise(edges))


def add_blocks(stack: Stack, blocks: Iterable[Block]) -> int:
    """Adds the demonstrations that blocks make together; the number of their rows."""
    done, rows = set(), 0
    for episode, parts in itertools.groupby(blocks, lambda block: block.episode):
        if episode in done:
            raise SfmError(f"{stack.name}: the rows of episode {episode:.15g} are not together")
        done.add(episode)
        _, obs, action, frame, reward = zip(*parts, strict=True)
        if (np.diff(np.concatenate(frame)) != 1).any():
            raise SfmError(f"{stack.name}: episode {episode:.15g} has frames missing or out of order")
        action, reward = (
            None if any(x is None for x in parts) else np.concatenate(parts) for parts in (action, reward)
        )
        stack.add(np.concatenate(obs), action, reward=reward)
        rows += sum(map(len, obs))
    return rows


def matrix(column: Any, which: str) -> np.ndarray:
    """A column of numbers or of equally long lists of numbers, a pyarrow.Array, as [rows,dimension]."""
    column = _whole(column, which)
    rows, width = len(column), 1
    if hasattr(column, "flatten") and hasattr(column, "value_lengths"):
        widths = np.unique(column.value_lengths().to_numpy(zero_copy_only=False)) if rows else np.array([0])
        if len(widths) != 1:
            raise SfmError(f"{which} have different dimensions: {widths[:10].tolist()}")
        column, width = _whole(column.flatten(), which), int(widths[0])
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "biuf":
        raise SfmError(f"{which} are not numbers but of type {column.type}")
    return values.reshape(rows, width)


def _whole(column: Any, which: str) -> Any:
    column = getattr(column, "storage", column)  # an extension type wraps plain lists
    if column.null_count:
        raise SfmError(f"{which} have missing values")
    return column
