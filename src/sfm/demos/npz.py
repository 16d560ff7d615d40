"""Demonstrations in NumPy files: one .npz or .npy, or a folder of .npz files."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from sfm import storage
from sfm.demos.types import Demos
from sfm.errors import SfmError

__all__ = ["load", "save"]


def load(path: str | Path) -> Demos:
    """Reads demonstrations from a file or, in natural order, from all .npz files of a folder.

    .npz: `obs` [T+1,o] or [N,T+1,o], perhaps `action` (T or T+1 rows) and `length` [N] (transitions); other
    arrays are ignored. .npy: states [T+1,o] or [N,T+1,o]. A folder has actions if all of its files do.
    """
    path = Path(path)
    if not path.exists():
        raise SfmError(f"demonstrations not found: {path} does not exist")
    if not path.is_dir():
        return _load_file(path)
    files = sorted(path.glob("*.npz"), key=_natural)
    if not files:
        raise SfmError(f"no demonstrations in {path}: there is no .npz file")
    episodes = [episode for file in files for episode in _load_file(file).episodes()]
    return _join(episodes, str(path))


def save(path: str | Path, demos: Demos, **extra: Any) -> None:
    """Writes one .npz that `load` reads; `extra` (numbers, arrays, strings) is stored beside."""
    arrays = {name: np.asarray(value) for name, value in extra.items()}
    for name, array in arrays.items():
        if array.dtype == object:
            raise SfmError(f"could not write {path}: '{name}' is neither number, array nor string")
    if demos.action is not None:
        arrays["action"] = demos.action
    with storage.atomic(Path(path)) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, obs=demos.obs, length=demos.length, **arrays)  # pyright: ignore[reportArgumentType]


def _natural(path: Path) -> list[tuple[int, str]]:
    """A sort key that puts 2.npz before 10.npz."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path.name)]


def _load_file(path: Path) -> Demos:
    arrays = _read(path)
    obs, action, length = arrays["obs"], arrays.get("action"), arrays.get("length")
    if obs.ndim == 2:
        obs, action = obs[None], None if action is None else action[None]
    if obs.ndim != 3:
        raise SfmError(f"{path}: 'obs' has shape {list(obs.shape)}, expected [T+1,o] or [N,T+1,o]")
    count, times = obs.shape[:2]
    if action is not None and len(np.atleast_1d(action)) != count:
        raise SfmError(f"{path}: 'action' has shape {list(action.shape)}, 'obs' has {list(obs.shape)}")
    length = np.full(count, times - 1) if length is None else np.atleast_1d(length)
    if length.shape != (count,) or length.dtype.kind not in "iu":
        raise SfmError(
            f"{path}: 'length' must be {count} whole numbers, is {length.dtype}{list(length.shape)}"
        )
    for i in np.flatnonzero((length < 0) | (length > times - 1)):
        raise SfmError(f"{path}: demonstration {i} has length {length[i]}, but 'obs' has {times} states")
    if action is None:
        return _join([(obs[i, : n + 1], None) for i, n in enumerate(length)], str(path))
    # Only a padded demonstration has actions beyond its length; otherwise a wrong count must stay visible.
    return _join(
        [(obs[i, : n + 1], action[i, :n] if n < times - 1 else action[i]) for i, n in enumerate(length)],
        str(path),
    )


def _join(episodes: list[tuple[np.ndarray, np.ndarray | None]], name: str) -> Demos:
    actions = [action for _, action in episodes if action is not None]
    return Demos.from_list(
        [obs for obs, _ in episodes], actions if len(actions) == len(episodes) else None, name
    )


def _read(path: Path) -> dict[str, np.ndarray]:
    """The arrays obs, action and length of a file, as far as it has them. No pickles: they run code."""
    try:
        # Opened here: NumPy forgets to close a file that turns out to be damaged.
        with open(path, "rb") as file:
            if not file.read(6).startswith((b"PK", b"\x93NUMPY")):
                raise SfmError(f"{path} is not a NumPy file (.npz or .npy)")
            file.seek(0)
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"obs": loaded}
            if "obs" not in loaded.files:
                raise SfmError(f"{path} has no array 'obs', only: {', '.join(loaded.files) or 'nothing'}")
            names = (name for name in ("obs", "action", "length") if name in loaded.files)
            return {name: np.asarray(loaded[name]) for name in names}
    except SfmError:
        raise
    except Exception as error:  # a damaged file fails in many ways inside zipfile, zlib and NumPy
        if "allow_pickle" in str(error):
            raise SfmError(
                f"{path} holds Python objects, not numbers; save plain float arrays instead"
            ) from error
        raise SfmError(
            f"could not read {path}: the file is damaged or cut off ({type(error).__name__})"
        ) from error
