"""Trajectories saved by the `imitation` library: a Hugging Face dataset with a row per trajectory."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sfm.demos.files import new_folder
from sfm.demos.formats.extras import need
from sfm.demos.formats.tables import matrix
from sfm.demos.stack import Stack
from sfm.demos.types import Demos
from sfm.errors import SfmError

STATE = "state.json"  # lists the data files of a dataset
_END = b"\xff\xff\xff\xff\0\0\0\0"


def read(path: Path, stack: Stack) -> None:
    """Adds the trajectories of a folder: obs [T+1,o], perhaps acts [T,a] or [T] (all NaN: none), rews [T].

    Arrow alone reads it: the `datasets` library brings pandas and takes seconds to import.
    """
    arrow: Any = need("pyarrow", "imitation")
    ipc: Any = need("pyarrow.ipc", "imitation")
    for entry in json.loads((path / STATE).read_text(encoding="utf-8"))["_data_files"]:
        file = path / entry["filename"]
        if file.parent != path:
            raise SfmError(f"{path}: {STATE} names a file outside of the folder")
        with open(file, "rb") as tail:
            tail.seek(-len(_END), 2)
            if tail.read() != _END:  # Arrow itself takes a cut between two batches for the end
                raise SfmError(f"{file} is cut off")
        with arrow.memory_map(str(file)) as source, ipc.open_stream(source) as batches:
            names = batches.schema.names
            fields = stack.fields(names, "obs")
            if missing := set(fields) - set(names):
                found = ", ".join(names[:20]) or "nothing"
                raise SfmError(f"{path} has no column '{min(missing)}', only: {found}")
            for batch in batches:
                batch.validate(full=True)
                beside = (stack.field(names, name) for name in ("acts", "rews"))
                acts, rews = (batch.column(name) if name in names else None for name in beside)
                for i in range(len(batch)):
                    which = f"{path}: the states of trajectory {i}"
                    states = np.concatenate([_trajectory(batch.column(f), i, which) for f in fields], axis=1)
                    actions = None if acts is None else _trajectory(acts, i, f"{path}: the actions of {i}")
                    rewards = None if rews is None else _trajectory(rews, i, f"{path}: the rewards of {i}")
                    missing = actions is None or np.isnan(actions).all()
                    stack.add(states, None if missing else actions, reward=rewards)


def save(path: str | Path, demos: Demos) -> None:
    """Writes a folder that `imitation.data.serialize.load` reads; missing actions are NaN."""
    datasets: Any = need("datasets", "imitation")
    action = np.full((*demos.obs.shape[:2], 1), np.nan, np.float32) if demos.action is None else demos.action
    obs, acts = zip(*demos._replace(action=action).episodes(), strict=True)
    infos = [["{}"] * length for length in demos.length]
    columns = {"obs": obs, "acts": acts, "infos": infos, "terminal": [False] * len(obs)}
    if demos.reward is not None:
        columns["rews"] = [reward[:n] for reward, n in zip(demos.reward, demos.length, strict=True)]
    with new_folder(Path(path)) as folder:
        progress = datasets.are_progress_bars_disabled()
        datasets.disable_progress_bars()
        try:
            datasets.Dataset.from_dict(columns).save_to_disk(str(folder))
        finally:
            if not progress:
                datasets.enable_progress_bars()


def _trajectory(column: Any, i: int, which: str) -> np.ndarray:
    """Row i, a list of times, as [time,dimension]."""
    column = getattr(column, "storage", column)
    if column.null_count or not hasattr(column, "value_lengths"):
        raise SfmError(f"{which} are not a list")
    values = matrix(column[i : i + 1].flatten(), which)
    return values.astype(np.float32) if values.dtype.kind != "f" else values
