"""Minari datasets: HDF5 files with a group per episode.

Read by h5py alone: Minari itself would build the environment that a dataset names, and so run its code.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from sfm.demos.files import natural, new_folder
from sfm.demos.formats.extras import need
from sfm.demos.limits import check_inflation
from sfm.demos.stack import Stack
from sfm.demos.types import Demos
from sfm.envs.actions import ActionScale
from sfm.errors import SfmError

_METADATA, _DATA = "metadata.json", "main_data.hdf5"
MARKS = _METADATA, f"data/{_METADATA}"


def local(dataset_id: str) -> Path:
    """Where Minari keeps the dataset called `dataset_id` on this machine."""
    root = os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets"
    return Path(root) / dataset_id


def find(path: Path) -> Path | None:
    """The folder with the data of a dataset: `path` itself, its folder `data`, or None."""
    return next((folder for folder in (path, path / "data") if os.path.isfile(folder / _METADATA)), None)


def read(path: Path, stack: Stack) -> None:
    """Adds the episodes of a dataset folder or of its HDF5 file; actions that are all NaN count as none.

    Actions of a bounded space are mapped to [-1, 1], where the environments here take them.
    """
    h5py: Any = need("h5py", "minari")
    folder = find(path) if path.is_dir() else path.parent
    assert folder is not None
    file = folder / _DATA if path.is_dir() else path
    told = folder / _METADATA
    metadata = json.loads(told.read_text(encoding="utf-8")) if told.is_file() else {}
    if path.is_dir() and metadata.get("data_format", "hdf5") != "hdf5":
        raise SfmError(f"{path} is stored as {metadata['data_format']}; only Minari's hdf5 format is read")
    scale = _scale(metadata)
    with h5py.File(file, "r") as groups:
        promised = metadata.get("total_episodes", len(groups))
        if promised != len(groups):
            raise SfmError(f"{file} has {len(groups)} episodes, {_METADATA} promises {promised}")
        for name in sorted(groups, key=natural):
            obs = _observations(h5py, groups, name, file, stack)
            action = _array(h5py, groups, f"{name}/actions", file)
            reward = _array(h5py, groups, f"{name}/rewards", file)
            if action is not None and np.isnan(action).all():
                action = None
            elif action is not None and scale is not None and len(scale.low) == action.shape[1]:
                action = scale.to_unit(action)
            stack.add(obs, action, reward=reward if reward is not None and reward.any() else None)


def _observations(h5py: Any, groups: Any, episode: str, file: Path, stack: Stack) -> np.ndarray:
    """The states of an episode, [time,dimension]; of a dictionary those of the keys that were asked for."""
    present = _node(h5py, groups, f"{episode}/observations", file)
    inside = list(present) if isinstance(present, h5py.Group) else []
    fields = stack.fields([*inside, "observations"], "observations")
    parts = []
    for field in fields:
        name = f"{episode}/{'' if field == 'observations' else 'observations/'}{field}"
        parts.append(_array(h5py, groups, name, file))
        if parts[-1] is None:
            raise SfmError(f"{file}: '{episode}' has no observations")
    return np.concatenate(parts, axis=1)


def save(path: str | Path, demos: Demos) -> None:
    """Writes a dataset folder that Minari reads, or `minari:ID` among the datasets of this machine.

    Minari demands actions: where there are none they are NaN, and the description says so.
    """
    minari: Any = need("minari", "minari")
    storage: Any = need("minari.dataset.minari_storage", "minari")
    spaces: Any = need("gymnasium.spaces", "minari")
    name = str(path).removeprefix("minari:")
    target = local(name) if str(path).startswith("minari:") else Path(path)
    target = target.absolute()  # Minari asks its file system for the folder's root
    dataset_id = (name if str(path).startswith("minari:") else target.name).replace(" ", "-")
    obs_dim, action_dim = demos.obs.shape[2], 1 if demos.action is None else demos.action.shape[2]
    bound = 1.0 if demos.action is None or np.abs(demos.action).max(initial=0.0) <= 1.0 else np.inf
    with new_folder(target) as folder:
        data = folder / "data"
        data.mkdir()
        new = storage.MinariStorage.new(
            data,
            observation_space=spaces.Box(-np.inf, np.inf, (obs_dim,), np.float32),
            action_space=spaces.Box(-bound, bound, (action_dim,), np.float32),
        )
        new.update_metadata(
            {
                "dataset_id": dataset_id if "-v" in dataset_id else f"{dataset_id}-v0",
                "minari_version": minari.__version__,
                "description": "Demonstrations written by sfm."
                + (" Rewards are not recorded (zero)." if demos.reward is None else "")
                + (" Actions are missing (NaN)." if demos.action is None else ""),
                "actions_missing": demos.action is None,
            }
        )
        rewards = np.zeros(demos.obs.shape[:2]) if demos.reward is None else demos.reward
        episodes = zip(demos.episodes(), rewards, strict=True)
        new.update_episodes([_buffer(minari, obs, action, reward) for (obs, action), reward in episodes])


def _buffer(minari: Any, obs: np.ndarray, action: np.ndarray | None, reward: np.ndarray) -> Any:
    steps = len(obs) - 1
    return minari.data_collector.EpisodeBuffer(
        observations=obs,
        actions=np.full((steps, 1), np.nan, np.float32) if action is None else action,
        rewards=reward[:steps].tolist(),
        terminations=[False] * steps,
        truncations=[False] * (steps - 1) + [True],
    )


def _scale(metadata: dict[str, Any]) -> ActionScale | None:
    """Of the space of actions, if it is known and bounded."""
    space = json.loads(metadata.get("action_space") or "{}")
    low, high = (np.asarray(space.get(end, ()), np.float64).ravel() for end in ("low", "high"))
    if low.shape != high.shape or not (np.isfinite(low) & np.isfinite(high) & (low < high)).all():
        return None
    return ActionScale(low, high)


def _node(h5py: Any, group: Any, name: str, file: Path) -> Any:
    """What lies in a file under `name`, or None; a link is refused, since it may lead to other files."""
    node = group
    for link in name.split("/"):
        if not isinstance(node, h5py.Group) or link not in node:
            return None
        if not isinstance(node.get(link, getlink=True), h5py.HardLink):
            raise SfmError(f"{file}: '{name}' is a link, not data")
        node = node[link]
    return node


def _array(h5py: Any, group: Any, name: str, file: Path) -> np.ndarray | None:
    """A dataset as [time,dimension], or None if it is not there; refused if its data lie in other files."""
    values = _node(h5py, group, name, file)
    if values is None:
        return None
    if isinstance(values, h5py.Group):
        parts = ", ".join(list(values)[:20])
        raise SfmError(
            f"{file}: '{name}' is a dictionary of {parts}: choose with --key in 'sfm demos convert'"
        )
    if values.is_virtual or values.external or values.dtype.kind not in "biuf" or values.ndim < 1:
        raise SfmError(f"{file}: '{name}' is not an array of numbers in this file")
    check_inflation(str(file), values.nbytes, file.stat().st_size)
    return values[()].reshape(len(values), -1)
