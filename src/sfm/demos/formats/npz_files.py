"""Demonstrations in NumPy files, .npz or .npy, read one demonstration at a time and without pickle."""

import itertools
import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from sfm import storage
from sfm.demos.limits import MAX_DEMOS, check_inflation
from sfm.demos.stack import Stack, gather
from sfm.demos.types import Demos
from sfm.errors import SfmError

BESIDE = ("action", "length", "qpos", "qvel", "reward")
_LONGEST_PROVENANCE = 1 << 20
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def load(path: str | Path) -> Demos:
    """The demonstrations of one file."""
    return gather(str(path), [(Path(path), read)])


def read(path: Path, stack: Stack) -> None:
    """Adds the demonstrations of a file.

    .npz: `obs` [T+1,o] or [N,T+1,o], perhaps `action` (T or T+1 rows), `length` [N] (transitions), and
    `qpos` and `qvel` of a simulator (T+1 rows), `reward` [T] or [N,T], and `names` [o], which says which
    dimensions `obs` has where it lacks some; other arrays are ignored. .npy: states [T+1,o] or [N,T+1,o].
    """
    with open(path, "rb") as file:
        magic = file.read(6)
        file.seek(0)
        if magic.startswith(b"\x93NUMPY"):
            size = path.stat().st_size
            _add(path, stack, [_open(path, "the file", file, size, size)])
        elif magic.startswith(b"PK"):
            with zipfile.ZipFile(file) as archive:
                if of_dims := _names(path, archive):
                    stack.call(of_dims)
                names = [member.removesuffix(".npy") for member in archive.namelist()]
                states = [_member(path, archive, name) for name in stack.fields(names, "obs")]
                fields = {name: stack.field(names, name) for name in BESIDE}
                found = {n: _member(path, archive, f) if f in names else None for n, f in fields.items()}
                _add(path, stack, states, **found, returns=_returns(archive))
        else:
            raise SfmError(f"{path} is not a NumPy file (.npz or .npy)")


def save(path: str | Path, demos: Demos, **extra: Any) -> None:
    """Writes one .npz that `read` reads; `extra` (numbers, arrays, strings) is stored beside."""
    arrays = {name: np.asarray(value) for name, value in extra.items()}
    for name, array in arrays.items():
        if array.dtype == object:
            raise SfmError(f"could not write {path}: '{name}' is neither number, array nor string")
    beside = {"action": demos.action, "qpos": demos.qpos, "qvel": demos.qvel, "reward": demos.reward}
    beside["names"] = None if demos.names is None else np.array(demos.names)
    arrays |= {name: values for name, values in beside.items() if values is not None}
    with storage.atomic(Path(path)) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, obs=demos.obs, length=demos.length, **arrays)  # pyright: ignore[reportArgumentType]


class _Array(NamedTuple):
    """An array that is declared in a file and not yet read."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool
    stream: IO[bytes]

    def whole(self) -> np.ndarray:
        """All of it, checked to be where the file ends (there the archive compares its checksum)."""
        data = self.stream.read(math.prod(self.shape) * self.dtype.itemsize)
        self.stream.read(1)
        return np.frombuffer(data, self.dtype).reshape(self.shape, order="F" if self.fortran else "C")

    def parts(self) -> Iterator[np.ndarray]:
        """Each demonstration of [N,T,d], or the only one of [T,d], read when asked for."""
        if len(self.shape) == 2 or self.fortran:  # there the first index runs fastest: there are no parts
            yield from self.whole() if len(self.shape) == 3 else [self.whole()]
            return
        size = math.prod(self.shape[1:]) * self.dtype.itemsize
        for _ in range(self.shape[0]):
            yield np.frombuffer(self.stream.read(size), self.dtype).reshape(self.shape[1:])
        self.stream.read(1)


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> _Array:
    if f"{name}.npy" not in archive.namelist():
        found = ", ".join(member.removesuffix(".npy") for member in archive.namelist()[:20])
        raise SfmError(
            f"{path} has no array '{name}', only: {found or 'nothing'}; "
            "sfm demos convert --rename OLD=NEW helps"
        )
    entry = archive.getinfo(f"{name}.npy")
    return _open(path, f"'{name}'", archive.open(entry), entry.file_size, entry.compress_size)


def _names(path: Path, archive: zipfile.ZipFile) -> tuple[str, ...] | None:
    """The array `names`, if there is one."""
    if "names.npy" not in archive.namelist():
        return None
    entry = archive.getinfo("names.npy")
    found = _open(path, "'names'", archive.open(entry), entry.file_size, entry.compress_size, kinds="U")
    if len(found.shape) != 1:
        raise SfmError(f"{path}: 'names' has shape {list(found.shape)}, expected one name per dimension")
    return tuple(map(str, found.whole()))


def _returns(archive: zipfile.ZipFile) -> Any:
    """Those that the provenance of a collected file tells, if there is one."""
    name = "provenance.npy"
    if name not in archive.namelist() or archive.getinfo(name).file_size > _LONGEST_PROVENANCE:
        return None
    with archive.open(name) as file:
        try:
            told = json.loads(str(np.lib.format.read_array(file, allow_pickle=False)))
        except ValueError:  # another's idea of a provenance
            return None
    return told.get("returns") if isinstance(told, dict) else None


def _open(path: Path, name: str, stream: IO[bytes], size: int, stored: int, kinds: str = "biuf") -> _Array:
    """Reads the header of an array of `size` bytes, header included, of which `stored` lie on the disk."""
    check_inflation(str(path), size, stored)
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise SfmError(f"{path}: {name} is stored in version {version} of NumPy's format, expected 1 or 2")
    shape, fortran, dtype = _HEADERS[version](stream)
    if dtype.hasobject:
        raise SfmError(f"{path} holds Python objects, not numbers; save plain float arrays instead")
    if dtype.kind not in kinds:
        raise SfmError(f"{path}: {name} holds no {'numbers' if kinds != 'U' else 'text'} but {dtype}")
    present = size - stream.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != present:
        raise SfmError(f"{path} is damaged: {name} declares shape {list(shape)} but has {present:,} bytes")
    return _Array(shape, dtype, fortran, stream)


def _add(
    path: Path,
    stack: Stack,
    states: list[_Array],
    action: _Array | None = None,
    length: _Array | None = None,
    qpos: _Array | None = None,
    qvel: _Array | None = None,
    reward: _Array | None = None,
    returns: Any = None,
) -> None:
    obs = states[0]
    if len(obs.shape) not in (2, 3):
        raise SfmError(f"{path}: 'obs' has shape {list(obs.shape)}, expected [T+1,o] or [N,T+1,o]")
    count, times = math.prod(obs.shape[:-2]), obs.shape[-2]
    if 0 in obs.shape:
        raise SfmError(f"{path}: there are no demonstrations (states of shape {list(obs.shape)})")
    if count > MAX_DEMOS:
        raise SfmError(f"{path}: more than {MAX_DEMOS:,} demonstrations; split the file")
    if any(other.shape[:-1] != obs.shape[:-1] for other in states):
        shapes = " and ".join(str(list(part.shape)) for part in states)
        raise SfmError(f"{path}: fields of shapes {shapes} cannot be joined")
    if qpos is None or qvel is None:  # half a state is none
        qpos = qvel = None
    for name, array in (("action", action), ("qpos", qpos), ("qvel", qvel)):
        if array is not None and (len(array.shape) != len(obs.shape) or array.shape[:-2] != obs.shape[:-2]):
            raise SfmError(
                f"{path}: '{name}' has shape {list(array.shape)}, 'obs' has {list(obs.shape)}; "
                f"expected [time, dimension] for each demonstration"
            )
    lengths = _lengths(path, length, count, times)
    beside = (itertools.repeat(None, count) if a is None else a.parts() for a in (action, qpos, qvel))
    rewards = _rewards(reward, returns, lengths)
    parts = zip(*(part.parts() for part in states), strict=True)  # strict: up to the arrays' ends
    for fields, acts, *rest, gain, n in zip(parts, *beside, rewards, lengths, strict=True):
        joined = fields[0] if len(fields) == 1 else np.concatenate(fields, axis=1)
        # Only a padded demonstration has rows past its length; otherwise a wrong count must stay visible.
        whole = n == times - 1
        beside_n = (part if part is None or whole else part[: n + 1] for part in rest)
        stack.add(joined[: n + 1], acts if acts is None or whole else acts[:n], *beside_n, reward=gain)


def _rewards(reward: _Array | None, returns: Any, lengths: np.ndarray) -> list[Any]:
    """Of each demonstration [t]; a return of which no more is known is spread over its steps."""
    if reward is not None:
        whole = reward.whole()
        each = list(whole) if whole.ndim > 1 else [whole]
        return each if len(each) == len(lengths) else [None] * len(lengths)
    if not isinstance(returns, list) or len(returns) != len(lengths):
        return [None] * len(lengths)
    return [np.full(n, told / n) if n > 0 else None for n, told in zip(lengths, returns, strict=True)]


def _lengths(path: Path, length: _Array | None, count: int, times: int) -> np.ndarray:
    """Transitions of each demonstration, int64 [count]."""
    if length is None:
        return np.full(count, times - 1)
    fitting = length.shape == (count,) or (count == 1 and not length.shape)
    if not fitting or length.dtype.kind not in "iu":
        found = f"{length.dtype}{list(length.shape)}"
        raise SfmError(f"{path}: 'length' must be {count} whole numbers, is {found}")
    lengths = np.atleast_1d(length.whole())
    for i in np.flatnonzero((lengths < 0) | (lengths > times - 1)):
        raise SfmError(f"{path}: demonstration {i} has length {lengths[i]}, but 'obs' has {times} states")
    return lengths.astype(np.int64)
