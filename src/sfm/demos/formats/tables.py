"""Tables with a row per state, cut into demonstrations where the number of the episode changes."""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from sfm.demos.stack import Stack
from sfm.errors import SfmError


class Block(NamedTuple):
    """Consecutive rows of one episode, perhaps not all: obs[n,o], action[n,a] or None, frame[n] or none."""

    episode: float
    obs: np.ndarray
    action: np.ndarray | None
    frame: np.ndarray = np.empty(0)  # rises by 1 from row to row


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
        _, obs, action, frame = zip(*parts, strict=True)
        if (np.diff(np.concatenate(frame)) != 1).any():
            raise SfmError(f"{stack.name}: episode {episode:.15g} has frames missing or out of order")
        stack.add(np.concatenate(obs), None if any(x is None for x in action) else np.concatenate(action))
        rows += sum(map(len, obs))
    return rows
