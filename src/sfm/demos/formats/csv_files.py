"""Demonstrations in text: a row per state, a column per dimension."""

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from sfm import storage
from sfm.demos.formats.tables import Block, add_blocks, runs
from sfm.demos.stack import Stack
from sfm.demos.types import Demos
from sfm.errors import SfmError

_EPISODE = {"episode", "episode_index", "episode_id", "demo", "demonstration", "trajectory"}
_REWARD = {"reward", "rewards", "next.reward"}
_NO_STATE = {"step", "frame", "frame_index", "index", "time", "timestamp"}
_NO_STATE |= {"done", "next.done", "terminated", "terminations", "truncated", "truncations"}
_ACTION = re.compile(r"action|act([_\W]|\d|$)")
_LONGEST_LINE, _ROWS = 1 << 20, 20_000


def read(path: Path, stack: Stack) -> None:
    """Adds the demonstrations of a text file, separated by commas, semicolons, tabs or spaces.

    With a header, a column `episode` tells demonstrations apart, columns `action...` are actions, `reward` is
    the reward, those that count or time rows (`step`, `frame`, `index`, `time`, `timestamp`) and that say
    whether an episode is done are ignored, all others are state. Without one, all columns are state. The
    action beside an episode's last state is unused.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        add_blocks(stack, _blocks(path, file, _columns(path, file, stack)))


def save(path: str | Path, demos: Demos) -> None:
    """Writes columns episode, state_0, ..., action_0, ..., reward; float32 survives exactly."""
    names = ["episode", *(f"state_{i}" for i in range(demos.obs.shape[2]))]
    if demos.action is not None:
        names += [f"action_{i}" for i in range(demos.action.shape[2])]
    if demos.reward is not None:
        names.append("reward")
    with storage.atomic(Path(path)) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(",".join(names) + "\n")
        for i, (obs, action) in enumerate(demos.episodes()):
            parts = [np.full((len(obs), 1), i), obs]
            reward = None if demos.reward is None else demos.reward[i, : len(obs) - 1, None]
            for beside in (action, reward):  # there is none at the last state
                if beside is not None:
                    parts.append(np.pad(beside, ((0, 1), (0, 0)), constant_values=np.nan))
            np.savetxt(file, np.concatenate(parts, 1, dtype=np.float64), fmt="%.9g", delimiter=",")


class _Columns(NamedTuple):
    """Where in a row things are."""

    delimiter: str | None
    count: int
    state: list[int]
    action: list[int]
    episode: int | None = None
    reward: int | None = None
    ignored: frozenset[int] = frozenset()  # these may hold anything


def _columns(path: Path, file: IO[str], stack: Stack) -> _Columns:
    """Reads a header, if there is one; the file then stands at the first row of numbers."""
    line = file.readline(_LONGEST_LINE)
    if not line.strip() or len(line) == _LONGEST_LINE or "\0" in line:
        raise SfmError(f"{path} is not a table of numbers: its first line is empty, too long or binary")
    delimiter = next((mark for mark in ",;\t" if mark in line), None)
    cells = [cell.strip().strip('"').lower() for cell in line.split(delimiter)]
    if all(_is_number(cell) for cell in cells):
        file.seek(0)
        return _Columns(delimiter, len(cells), list(range(len(cells))), [])
    if any(_is_number(cell) for cell in cells) or len(set(cells)) < len(cells) or "" in cells:
        raise SfmError(f"{path}: the first line is neither numbers nor a header of different names")
    cells = stack.names(cells)
    episode = [i for i, cell in enumerate(cells) if cell in _EPISODE]
    reward = [i for i, cell in enumerate(cells) if cell in _REWARD]
    action = [i for i, cell in enumerate(cells) if _ACTION.match(cell)]
    skipped = {i for i, cell in enumerate(cells) if cell in _NO_STATE}
    state = [i for i in range(len(cells)) if i not in skipped.union(episode, action, reward)]
    if not state or len(episode) > 1 or len(reward) > 1:
        raise SfmError(
            f"{path}: expected one episode column at most and some state columns, found {cells[:20]}"
        )
    stack.columns = [cells[i] for i in state]
    skipped.update(state[i] for i in stack.repair.ignored(stack.columns))
    first = [found[0] if found else None for found in (episode, reward)]
    return _Columns(delimiter, len(cells), state, action, first[0], first[1], frozenset(skipped))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _blocks(path: Path, file: IO[str], columns: _Columns) -> Iterator[Block]:
    lines = filter(str.strip, iter(lambda: file.readline(_LONGEST_LINE), ""))
    anything: dict[int | str, Callable[[str], float]] = {i: lambda cell: 0.0 for i in columns.ignored}
    while some := list(itertools.islice(lines, _ROWS)):
        try:  # as float64, so that a number too large for float32 is noticed
            rows = np.loadtxt(
                some,
                comments=None,
                delimiter=columns.delimiter,
                quotechar='"',
                ndmin=2,
                converters=anything,
            )
        except ValueError as error:
            raise SfmError(f"{path} is not a table of numbers: {str(error).splitlines()[0]}") from error
        if rows.shape[1] != columns.count:
            raise SfmError(f"{path}: a row has {rows.shape[1]} columns, the first line {columns.count}")
        episode = np.zeros(len(rows)) if columns.episode is None else rows[:, columns.episode]
        if not np.isfinite(episode).all():
            raise SfmError(f"{path}: the episode column has gaps")
        for run in runs(episode):
            part = rows[run]
            action = part[:, columns.action] if columns.action else None
            reward = None if columns.reward is None else part[:, columns.reward]
            yield Block(float(episode[run.start]), part[:, columns.state], action, reward=reward)
