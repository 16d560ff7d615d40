"""LeRobot datasets, versions 2 and 3: Parquet files with a row per frame."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sfm import storage
from sfm.demos.files import natural, new_folder
from sfm.demos.formats.extras import need
from sfm.demos.formats.tables import Block, add_blocks, matrix, runs
from sfm.demos.limits import check_inflation
from sfm.demos.stack import Stack
from sfm.demos.types import Demos
from sfm.errors import SfmError

INFO = Path("meta", "info.json")
_STATE, _ACTION, _REWARD = "observation.state", "action", "next.reward"
_EPISODE, _FRAME = "episode_index", "frame_index"
_FILES, _FILE_MB = 1000, 100  # in a folder, and in a file of version 3, at most
_FPS = 1  # demonstrations have no clock: a step counts as a second
_TASK = "follow the demonstrations"
_TASKS_IN_PANDAS = {
    "index_columns": ["task"],
    "columns": [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": dtype, "metadata": None}
        for name, kind, dtype in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ],
    "column_indexes": [],
}
_NUMBERED = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"

_Columns = dict[str, np.ndarray]  # the frames of an episode: each column [frames,dimension]
_Stats = dict[str, np.ndarray]  # of a column in N episodes: min, max, mean, std [N,dimension], count [N,1]


def read(path: Path, stack: Stack) -> None:
    """Adds the episodes of a dataset folder (data/chunk-*/*.parquet) or of one of its Parquet files.

    Version 2 has a file per episode, version 3 many episodes per file. The last frame's action is unused.
    """
    if path.is_file():
        add_blocks(stack, _blocks([path], stack))
        return
    info = json.loads((path / INFO).read_text(encoding="utf-8"))
    features = info.get("features") or {}
    if missing := set(stack.fields(features, _STATE)) - set(features):
        found = ", ".join(list(features)[:20]) or "nothing"
        raise SfmError(
            f"{path} has no '{min(missing)}', only: {found}; choose with --key in 'sfm demos convert'"
        )
    files = (file for file in path.glob("data/**/*.parquet") if not file.name.startswith("."))
    frames = add_blocks(stack, _blocks(sorted(files, key=natural), stack))
    if (total := info.get("total_frames")) not in (None, frames):
        raise SfmError(f"{path}: {INFO} promises {total} frames, the data has {frames}; files are missing")


def _blocks(files: list[Path], stack: Stack) -> Iterator[Block]:
    parquet: Any = need("pyarrow.parquet", "lerobot")
    for path in files:
        # In pieces: else a row group, which may be all of the file, is held at once.
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
            present = set(file.schema_arrow.names)
            states = stack.fields(present, _STATE)
            for name in (*states, _EPISODE):
                if name not in present:
                    raise SfmError(f"{path} has no column '{name}', only: {', '.join(sorted(present)[:20])}")
            action, reward = (stack.field(present, name) for name in (_ACTION, _REWARD))
            names = [name for name in (*states, _EPISODE, _FRAME, action, reward) if name in present]
            size = path.stat().st_size
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            check_inflation(str(path), sum(group.total_byte_size for group in groups), size)
            check_inflation(str(path), 8 * file.metadata.num_rows, size)
            for batch in file.iter_batches(batch_size=8192, columns=names, use_threads=False):
                columns = {name: matrix(batch.column(name), f"{path}: '{name}'") for name in names}
                episode = columns[_EPISODE][:, 0]
                for run in runs(episode):
                    part = {name: column[run] for name, column in columns.items()}
                    frame = part.get(_FRAME, np.empty((0, 1)))[:, 0]
                    obs = np.concatenate([part[name] for name in states], axis=1)
                    gain = part[reward][:, 0] if reward in part else None
                    yield Block(int(episode[run.start]), obs, part.get(action), frame, gain)


def save(path: str | Path, demos: Demos) -> None:
    """Writes a dataset folder of version 3.0, with many episodes per file.

    The library wants an action, a time and a task for each frame: the last action is repeated, a step takes a
    second, and there is one task. Without actions or rewards there is no such column.
    """
    template, frames = f"data/{_NUMBERED}", demos.length.astype(np.int64) + 1
    ends, zeros = np.cumsum(frames), np.zeros_like(frames)
    frame_size = sum(values[0].nbytes for values in next(_frames(demos)).values())
    _, number = np.unique(ends * frame_size // (_FILE_MB * 2**20), return_inverse=True)
    chunk, file = np.divmod(number, _FILES)
    with new_folder(Path(path)) as folder:
        names = [template.format(chunk_index=c, file_index=f) for c, f in zip(chunk, file, strict=True)]
        stats = _write_frames(folder, demos, names)
        sizes = {"data_files_size_in_mb": _FILE_MB, "video_files_size_in_mb": 2 * _FILE_MB}
        _write_json(folder / INFO, _info(demos, "v3.0", template) | sizes)
        _write_json(folder / "meta/stats.json", {column: _together(part) for column, part in stats.items()})
        episodes = {
            _EPISODE: np.arange(len(frames)),
            "tasks": [[_TASK]] * len(frames),
            "length": frames,
            **{"data/chunk_index": chunk, "data/file_index": file},
            **{"dataset_from_index": ends - frames, "dataset_to_index": ends},
            **{f"stats/{column}/{name}": list(x) for column, of in stats.items() for name, x in of.items()},
            **{"meta/episodes/chunk_index": zeros, "meta/episodes/file_index": zeros},
        }
        _write_table(folder / "meta/episodes" / _NUMBERED.format(chunk_index=0, file_index=0), episodes)
        _write_table(folder / "meta/tasks.parquet", {"task_index": [0], "task": [_TASK]}, _TASKS_IN_PANDAS)


def save_v2(path: str | Path, demos: Demos) -> None:
    """Writes a dataset folder of version 2.1, with a file per episode; otherwise as `save`."""
    template = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
    lengths = demos.length.tolist()
    names = [template.format(episode_chunk=i // _FILES, episode_index=i) for i in range(len(lengths))]
    with new_folder(Path(path)) as folder:
        stats = _write_frames(folder, demos, names)
        more = {"total_videos": 0, "total_chunks": 1 + (len(lengths) - 1) // _FILES}
        _write_json(folder / INFO, _info(demos, "v2.1", template) | more)
        _write_json(folder / "meta/tasks.jsonl", {"task_index": 0, "task": _TASK})
        episodes = [{_EPISODE: i, "tasks": [_TASK], "length": n + 1} for i, n in enumerate(lengths)]
        _write_json(folder / "meta/episodes.jsonl", *episodes)
        rows = [
            {_EPISODE: i, "stats": {c: {name: x[i] for name, x in of.items()} for c, of in stats.items()}}
            for i in range(len(lengths))
        ]
        _write_json(folder / "meta/episodes_stats.jsonl", *rows)


def _frames(demos: Demos) -> Iterator[_Columns]:
    """The columns of each episode, in the library's order."""
    first = 0
    for episode, (obs, action) in enumerate(demos.episodes()):
        frame = np.arange(len(obs), dtype=np.int64)[:, None]
        columns = {_STATE: obs.astype(np.float32, copy=False)}
        if action is not None:
            columns[_ACTION] = np.concatenate([action, action[-1:]], dtype=np.float32)
        if demos.reward is not None:
            columns[_REWARD] = np.append(demos.reward[episode, : len(obs) - 1], np.float32(0))[:, None]
        yield columns | {
            "timestamp": (frame / _FPS).astype(np.float32),
            _FRAME: frame,
            _EPISODE: np.full_like(frame, episode),
            "index": first + frame,
            "task_index": np.zeros_like(frame),
        }
        first += len(obs)


def _write_frames(folder: Path, demos: Demos, names: list[str]) -> dict[str, _Stats]:
    """Writes each episode to the file of its name, as a row group; the statistics of each column."""
    parquet: Any = need("pyarrow.parquet", "lerobot")
    schema, parts = _table(next(_frames(demos))).schema, []
    for name, group in itertools.groupby(zip(names, _frames(demos), strict=True), lambda pair: pair[0]):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with parquet.ParquetWriter(folder / name, schema, use_dictionary=False) as writer:
            for _, columns in group:
                writer.write_table(_table(columns))
                parts.append({column: _stats(values) for column, values in columns.items()})
    return {
        column: {name: np.stack([part[column][name] for part in parts]) for name in first}
        for column, first in parts[0].items()
    }


def _table(columns: _Columns) -> Any:
    """As the library has it: a list in each row, but a number where the dimension is 1."""
    arrow: Any = need("pyarrow", "lerobot")

    def column(values: np.ndarray) -> Any:
        if values.shape[1] == 1:
            return arrow.array(values[:, 0])
        return arrow.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])

    return arrow.table({name: column(values) for name, values in columns.items()})


def _write_table(path: Path, columns: dict[str, Any], pandas: dict[str, Any] | None = None) -> None:
    """Writes columns; `pandas` is what Pandas would note about them."""
    arrow: Any = need("pyarrow", "lerobot")
    parquet: Any = need("pyarrow.parquet", "lerobot")
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.table(columns, metadata=pandas and {"pandas": json.dumps(pandas)}), path)


def _write_json(path: Path, *rows: dict[str, Any]) -> None:
    """Writes a line per row; not atomic, since the folder is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{storage.to_json(row)}\n" for row in rows), encoding="utf-8")


def _info(demos: Demos, version: str, data_path: str) -> dict[str, Any]:
    """What both versions say of a dataset."""
    count, features = len(demos.length), {}
    for name, values in next(_frames(demos)).items():
        kind = {_STATE: "state", _ACTION: "action"}.get(name)
        parts = [f"{kind}_{i}" for i in range(values.shape[1])] if kind else None
        features[name] = {"dtype": str(values.dtype), "shape": [values.shape[1]], "names": parts}
    return {
        "codebase_version": version,
        "robot_type": None,
        "total_episodes": count,
        "total_frames": int(demos.length.sum(dtype=np.int64)) + count,
        "total_tasks": 1,
        "chunks_size": _FILES,
        "fps": _FPS,
        "splits": {"train": f"0:{count}"},
        "data_path": data_path,
        "video_path": None,
        "features": features,
    }


def _stats(values: np.ndarray) -> _Stats:
    """Of values[n,d], one episode, without the first axis."""
    return {
        "min": values.min(0),
        "max": values.max(0),
        "mean": values.mean(0, np.float64),
        "std": values.std(0, np.float64),
        "count": np.array([len(values)]),
    }


def _together(each: _Stats) -> _Stats:
    """The statistics of all episodes from those of each, without the first axis."""
    count = each["count"][:, 0]
    mean = np.average(each["mean"], 0, count)
    variance = np.average(each["std"] ** 2 + (each["mean"] - mean) ** 2, 0, count)
    ends = {"min": each["min"].min(0), "max": each["max"].max(0)}
    return ends | {"mean": mean, "std": np.sqrt(variance), "count": each["count"].sum(0)}
