"""How demonstrations are gathered, one at a time, in little more memory than they end up in."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sfm.demos.limits import MAX_DEMOS, check_memory
from sfm.demos.types import Demos, check_finite
from sfm.errors import SfmError

Read = Callable[[Path, "Stack"], None]  # adds the demonstrations of a file to a stack


def gather(name: str, sources: Iterable[tuple[Path, Read]]) -> Demos:
    """All demonstrations of some files; whatever is wrong with one becomes one line that names it."""
    stack = Stack(name)
    for path, read in sources:
        stack.begin(str(path))
        try:
            read(path, stack)
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

    In the end there are actions, or the simulator's qpos and qvel, if every demonstration has some.
    """

    def __init__(self, name: str):
        self.name, self._before = name, 0
        self._lengths: list[int] = []
        self._rows = {kind: _Rows() for kind in ("state", "action", "qpos", "qvel")}

    def begin(self, name: str) -> None:
        """Errors from now on name the file `name` and count its demonstrations."""
        self.name, self._before = name, len(self._lengths)

    def add(self, obs: Any, action: Any = None, qpos: Any = None, qvel: Any = None) -> None:
        """Adds obs[t+1,o] and perhaps action[t,a] or [t+1,a], whose last row is then dropped, and perhaps
        qpos[t+1,nq] and qvel[t+1,nv]."""
        i, name = len(self._lengths) - self._before, self.name
        if len(self._lengths) >= MAX_DEMOS:
            raise SfmError(f"{name}: more than {MAX_DEMOS:,} demonstrations; split the file")
        obs = _matrix(obs, f"{name}: the states of demonstration {i}")
        length = len(obs) - 1
        if length < 1:
            raise SfmError(f"{name}: demonstration {i} needs at least 2 states, has {len(obs)}")
        self._check(obs, "state")
        given = {"state": obs}
        if action is not None:
            action = _matrix(action, f"{name}: the actions of demonstration {i}")
            if len(action) - length not in (0, 1):
                raise SfmError(
                    f"{name}: demonstration {i} has {len(action)} actions for {length + 1} states, "
                    f"expected {length} (or {length + 1}, the last one unused)"
                )
            given["action"] = action[:length]
            self._check(given["action"], "action")
        if qpos is not None and qvel is not None:
            for kind, value in (("qpos", qpos), ("qvel", qvel)):
                given[kind] = _matrix(value, f"{name}: {kind} of demonstration {i}")
                if len(given[kind]) != length + 1:
                    rows = len(given[kind])
                    raise SfmError(f"{name}: demonstration {i} has {kind} of {rows} states, not {length + 1}")
                self._check(given[kind], kind)
        self._rows = {kind: rows for kind, rows in self._rows.items() if kind in given}
        for kind, rows in self._rows.items():
            rows.append(given[kind])
        self._lengths.append(length)

    def demos(self) -> Demos:
        """All demonstrations; the stack is empty afterwards: its memory is theirs."""
        if not self._lengths:
            raise SfmError(f"{self.name}: there are no demonstrations")
        length, times = np.array(self._lengths, np.int32), max(self._lengths)
        dims = sum(rows.dim for rows in self._rows.values())
        check_memory(self.name, 4 * len(length) * (times + 1) * dims)
        made = {
            kind: rows.padded(length, times, edge=False)
            if kind == "action"
            else rows.padded(length + 1, times + 1, edge=True)
            for kind, rows in self._rows.items()
        }
        self.__init__(self.name)
        return Demos(made["state"], made.get("action"), length, made.get("qpos"), made.get("qvel"))

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


def _matrix(value: Any, which: str) -> np.ndarray:
    """value as float32 [time,dimension]."""
    try:
        matrix = np.asarray(value)
    except ValueError as error:  # nested lists of unequal lengths
        raise SfmError(f"{which} do not form a matrix [time, dimension]") from error
    if matrix.dtype.kind not in "biuf":
        raise SfmError(f"{which} are not numbers but of type {matrix.dtype}")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise SfmError(f"{which} have shape {list(matrix.shape)}, expected [time, dimension]")
    with np.errstate(over="ignore"):
        single = matrix.astype(np.float32, copy=False)
    overflow = np.isinf(single) & np.isfinite(matrix)
    if overflow.any():
        time, dim = np.argwhere(overflow)[0]
        raise SfmError(
            f"{which} are too large for float32: {matrix[time, dim]:g} at time {time}, dimension {dim}"
        )
    return single
