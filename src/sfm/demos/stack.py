"""How demonstrations are gathered, one at a time, in little more memory than they end up in."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sfm.demos.limits import MAX_DEMOS, check_memory
from sfm.demos.repair import NONE, Repair
from sfm.demos.types import Demos, check_finite
from sfm.errors import SfmError

KINDS = ("state", "action", "qpos", "qvel", "reward")
Read = Callable[[Path, "Stack"], None]  # adds the demonstrations of a file to a stack


def gather(name: str, sources: Iterable[tuple[Path, Read]], repair: Repair = NONE) -> Demos:
    """All demonstrations of some files; whatever is wrong with one becomes one line that names it."""
    stack = Stack(name, repair)
    for path, read in sources:
        stack.begin(str(path))
        try:
            read(path, stack)
            stack.check_asked()
        except SfmError as error:
            if str(path) in str(error):
                raise
            raise SfmError(f"{path}: {error}") from error
        except OSError as error:
            reason = (error.strerror or str(error)).splitlines()[0]
            raise SfmError(f"could not read {path}: {reason}") from error
        except Exception as error:  # a damaged file fails in many ways inside the libraries
            kind = type(error).__name__
            raise SfmError(f"could not read {path}: the file is damaged or cut off ({kind})") from error
    return stack.demos()


class Stack:
    """Checks demonstrations as they come and turns them into `Demos`; `name` begins each error.

    In the end there are actions, rewards, or the simulator's qpos and qvel, if every demonstration has some.
    Each demonstration is changed by `repair` before it is judged; `columns` are the names of its state
    columns, where a reader knows some.
    """

    def __init__(self, name: str, repair: Repair = NONE):
        self.name, self.repair, self._before = name, repair, 0
        self.columns: list[str] = []
        self._names: tuple[str, ...] | None = None  # of the dimensions of states, where they are a part
        self._asked = False  # a reader whether the fields of its file were renamed
        self._lengths: list[int] = []
        self._rows = {kind: _Rows() for kind in KINDS}

    def begin(self, name: str) -> None:
        """Errors from now on name the file `name` and count its demonstrations."""
        self.name, self._before, self.columns, self._asked = name, len(self._lengths), [], False

    def call(self, names: tuple[str, ...]) -> None:
        """Says which dimensions of a state the demonstrations have, in their order."""
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise SfmError(f"{self.name}: 'names' has '{twice}' twice")
        if self._names not in (None, names):
            raise SfmError(f"{self.name}: 'names' differs from that of the files before")
        self._names = names

    def fields(self, present: Iterable[str], name: str) -> list[str]:
        """The fields of a file that hold the states, `name` unless others were asked for."""
        self._asked = True
        return self.repair.sources(present, name)

    def field(self, present: Iterable[str], name: str) -> str:
        """The field of a file that is read as `name`."""
        self._asked = True
        return self.repair.source(present, name)

    def names(self, columns: list[str]) -> list[str]:
        """The columns of a table by the names that they are to be read by."""
        self._asked = not self.repair.key
        return self.repair.renamed(columns)

    def check_asked(self) -> None:
        """Refuses a repair that the reader of a file without fields cannot follow."""
        if (self.repair.key or self.repair.rename) and not self._asked:
            raise SfmError(f"{self.name} has no fields with names: --key and --rename do not work with it")

    def add(
        self, obs: Any, action: Any = None, qpos: Any = None, qvel: Any = None, *, reward: Any = None
    ) -> None:
        """Adds obs[t+1,o] and perhaps action[t,a] or [t+1,a], whose last row is then dropped, qpos[t+1,nq]
        and qvel[t+1,nv], and reward[t] or [t+1], which counts only if it is whole."""
        i, name = len(self._lengths) - self._before, self.name
        if len(self._lengths) >= MAX_DEMOS:
            raise SfmError(f"{name}: more than {MAX_DEMOS:,} demonstrations; split the file")
        which = {kind: f"{name}: {kind} of demonstration {i}" for kind in ("qpos", "qvel")}
        which |= {kind: f"{name}: the {kind}s of demonstration {i}" for kind in ("state", "action")}
        given = {"state": _numbers(obs, which["state"])}
        length = len(given["state"]) - 1
        if length < 1:
            raise SfmError(f"{name}: demonstration {i} needs at least 2 states, has {length + 1}")
        if action is not None:
            given["action"] = self._acted(_numbers(action, which["action"]), length, i)
        for kind, value in (("qpos", qpos), ("qvel", qvel)) if qpos is not None and qvel is not None else ():
            given[kind] = _numbers(value, which[kind])
            if (rows := len(given[kind])) != length + 1:
                raise SfmError(f"{name}: demonstration {i} has {kind} of {rows} states, not {length + 1}")
        if (gained := _rewards(reward, length)) is not None:
            given["reward"] = gained[:, None]
        given = self.repair.apply(given, self.columns)
        if (rows := len(given["state"])) < 2:
            raise SfmError(f"{name}: --slice or --every leaves {rows} states of demonstration {i}")
        for kind, values in given.items():
            if kind != "reward":
                given[kind] = _single(values, which[kind])
                self._check(given[kind], kind)
        self._rows = {kind: rows for kind, rows in self._rows.items() if kind in given}
        for kind, rows in self._rows.items():
            rows.append(given[kind])
        self._lengths.append(len(given["state"]) - 1)

    def _acted(self, action: np.ndarray, length: int, i: int) -> np.ndarray:
        """The actions of demonstration i, one per step."""
        if len(action) - length not in (0, 1):
            raise SfmError(
                f"{self.name}: demonstration {i} has {len(action)} actions for {length + 1} states, "
                f"expected {length} (or {length + 1}, the last one unused)"
            )
        return action[:length]

    def demos(self) -> Demos:
        """All demonstrations; the stack is empty afterwards: its memory is theirs."""
        if not self._lengths:
            raise SfmError(f"{self.name}: there are no demonstrations")
        if self._names is not None and len(self._names) != self._rows["state"].dim:
            dims = self._rows["state"].dim
            raise SfmError(f"{self.name}: {len(self._names)} 'names' for states of {dims} dimensions")
        length, times, names = np.array(self._lengths, np.int32), max(self._lengths), self._names
        dims = sum(rows.dim for rows in self._rows.values())
        check_memory(self.name, 4 * len(length) * (times + 1) * dims)
        made = {
            kind: rows.padded(length, times, edge=False)
            if kind in ("action", "reward")
            else rows.padded(length + 1, times + 1, edge=True)
            for kind, rows in self._rows.items()
        }
        self.__init__(self.name, self.repair)
        reward = made["reward"][..., 0] if "reward" in made else None
        beside = {kind: made.get(kind) for kind in ("action", "qpos", "qvel")}
        return Demos(made["state"], length=length, names=names, reward=reward, **beside)

    def _check(self, matrix: np.ndarray, kind: str) -> None:
        i, before = len(self._lengths) - self._before, self._rows.get(kind)
        if before and before.count and matrix.shape[1] != before.dim:
            raise SfmError(
                f"{self.name}: demonstration {i} has {kind}s of {matrix.shape[1]} dimensions, "
                f"but the first has {before.dim}"
            )
        check_finite(matrix, kind, i, self.name)


class _Rows:
    """A float32 matrix [count,dim] that grows at its end."""

    def __init__(self):
        self.count = self.dim = 0
        self._data = np.empty((0, 0), np.float32)

    def append(self, rows: Any) -> None:
        count = self.count + len(rows)
        self.dim = rows.shape[1]
        if count > len(self._data):
            # In place: the system moves large blocks without a copy.
            self._data.resize((max(count, len(self._data) * 9 // 8), self.dim), refcheck=False)
        self._data[self.count : count] = rows
        self.count = count

    def padded(self, counts: np.ndarray, times: int, *, edge: bool) -> np.ndarray:
        """[N,times,dim] from N blocks of `counts` rows: the last row repeated, or zeros. In place."""
        data, self._data = self._data, np.empty((0, 0), np.float32)
        data.resize((len(counts) * times, self.dim), refcheck=False)
        end = self.count
        for i in reversed(range(len(counts))):  # from the back, where each block moves to free rows
            count, start = counts[i], i * times
            data[start : start + count] = data[end - count : end]
            data[start + count : start + times] = data[start + count - 1] if edge else 0.0
            end -= count
        return data.reshape(len(counts), times, self.dim)


def _numbers(value: Any, which: str) -> np.ndarray:
    """value as numbers [time,dimension]."""
    try:
        matrix = np.asarray(value)
    except ValueError as error:  # nested lists of unequal lengths
        raise SfmError(f"{which} do not form a matrix [time, dimension]") from error
    if matrix.dtype.kind not in "biuf":
        raise SfmError(f"{which} are not numbers but of type {matrix.dtype}")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise SfmError(f"{which} have shape {list(matrix.shape)}, expected [time, dimension]")
    return matrix


def _single(matrix: np.ndarray, which: str) -> np.ndarray:
    """matrix[time,dimension] as float32."""
    with np.errstate(over="ignore"):
        single = matrix.astype(np.float32, copy=False)
    overflow = np.isinf(single) & np.isfinite(matrix)
    if overflow.any():
        time, dim = np.argwhere(overflow)[0]
        raise SfmError(
            f"{which} are too large for float32: {matrix[time, dim]:g} at time {time}, dimension {dim}"
        )
    return single


def _rewards(value: Any, length: int) -> np.ndarray | None:
    """value as float32 [length], or None where that is not what it is: nothing is learned from it."""
    try:
        with np.errstate(over="ignore"):
            reward = np.asarray(value, np.float64).reshape(-1)[:length].astype(np.float32)
    except (TypeError, ValueError):
        return None
    return reward if len(reward) == length and np.isfinite(reward).all() else None
