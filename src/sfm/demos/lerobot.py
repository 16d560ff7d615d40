"""LeRobot datasets, versions 2 and 3: Parquet files with a row per frame."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sfm.demos.arrow import matrix
from sfm.demos.extras import need
from sfm.demos.files import natural
from sfm.demos.limits import check_inflation
from sfm.demos.stack import Stack
from sfm.errors import SfmError

__all__ = ["INFO", "read"]

INFO = Path("meta", "info.json")
_STATE, _ACTION, _EPISODE, _FRAME = "observation.state", "action", "episode_index", "frame_index"


def read(path: Path, stack: Stack) -> None:
    """Adds the episodes of a dataset folder (data/chunk-*/*.parquet) or of one of its Parquet files.

    Version 2 has a file per episode, version 3 many episodes per file. The last frame's action is unused.
    """
    files = sorted(path.glob("data/**/*.parquet"), key=natural) if path.is_dir() else [path]
    total = _total_frames(path) if path.is_dir() else None
    frames, episode, pending, done = 0, None, [], set()
    for current, frame, obs, action in _blocks(files):
        if current != episode:
            _add(stack, pending, episode)
            done.add(episode)
            episode, pending = current, []
            if episode in done:
                raise SfmError(f"{path}: the frames of episode {episode} are not together")
        pending.append((frame, obs, action))
        frames += len(obs)
    _add(stack, pending, episode)
    if total is not None and frames != total:
        raise SfmError(f"{path}: {INFO} promises {total} frames, the data has {frames}; files are missing")


def _total_frames(path: Path) -> int | None:
    info = json.loads((path / INFO).read_text(encoding="utf-8"))
    features = info.get("features") or {}
    if _STATE not in features:
        raise SfmError(f"{path} has no '{_STATE}', only: {', '.join(list(features)[:20]) or 'nothing'}")
    return info.get("total_frames")


def _blocks(files: list[Path]) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray | None]]:
    """Consecutive rows of one episode each: its index, frame[n], obs[n,o], action[n,a] or None."""
    parquet: Any = need("pyarrow.parquet", "lerobot")
    for path in files:
        with parquet.ParquetFile(path, pre_buffer=False) as file:  # else all of it is held at once
            present = set(file.schema_arrow.names)
            for name in (_STATE, _EPISODE):
                if name not in present:
                    raise SfmError(f"{path} has no column '{name}', only: {', '.join(sorted(present)[:20])}")
            names = [name for name in (_STATE, _EPISODE, _FRAME, _ACTION) if name in present]
            size = path.stat().st_size
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            check_inflation(str(path), sum(group.total_byte_size for group in groups), size)
            check_inflation(str(path), 8 * file.metadata.num_rows, size)
            for batch in file.iter_batches(batch_size=8192, columns=names, use_threads=False):
                columns = {name: matrix(batch.column(name), f"{path}: '{name}'") for name in names}
                episode = columns[_EPISODE][:, 0]
                for rows in np.split(np.arange(len(episode)), np.flatnonzero(np.diff(episode)) + 1):
                    part = {name: column[rows[0] : rows[-1] + 1] for name, column in columns.items()}
                    frame = part.get(_FRAME, np.zeros((0, 1)))[:, 0]
                    yield int(episode[rows[0]]), frame, part[_STATE], part.get(_ACTION)


def _add(stack: Stack, pending: list[tuple[np.ndarray, np.ndarray, Any]], episode: int | None) -> None:
    if not pending:
        return
    frame, obs, action = zip(*pending, strict=True)
    frames = np.concatenate(frame)
    if len(frames) and (np.diff(frames) != 1).any():
        raise SfmError(f"{stack.name}: episode {episode} has frames missing or out of order")
    stack.add(np.concatenate(obs), None if any(part is None for part in action) else np.concatenate(action))
