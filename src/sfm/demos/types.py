"""What a set of demonstrations is, and which ones are refused."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sfm.errors import SfmError

__all__ = ["Demos", "check"]


class Demos(NamedTuple):
    """N demonstrations of up to T transitions, float32; demonstration i has length[i] + 1 states.

    obs[N,T+1,o], padded with the last state; action[N,T,a], padded with zeros, or None; length[N] int32.
    """

    obs: np.ndarray
    action: np.ndarray | None
    length: np.ndarray

    def episodes(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Each demonstration without padding: obs[t+1,o], action[t,a] or None."""
        for i, length in enumerate(self.length):
            yield self.obs[i, : length + 1], None if self.action is None else self.action[i, :length]

    @staticmethod
    def from_list(
        obs_list: Sequence[Any], action_list: Sequence[Any] | None = None, name: str = "demonstrations"
    ) -> "Demos":
        """Joins and checks demonstrations of different lengths: obs[t+1,o] and action[t,a] or [t+1,a] each.

        An action after the last state, as some recorders store it, is dropped. `name` begins each error.
        """
        obs = _matrices(obs_list, "state", name)
        length = np.array([len(states) - 1 for states in obs], np.int32)
        for i in np.flatnonzero(length < 1):
            raise SfmError(f"{name}: demonstration {i} needs at least 2 states, has {length[i] + 1}")
        padded = [np.pad(states, ((0, length.max() + 1 - len(states)), (0, 0)), "edge") for states in obs]
        demos = Demos(np.stack(padded), _join_actions(action_list, length, name), length)
        check(demos, None, name)
        return demos


def _join_actions(action_list: Sequence[Any] | None, length: np.ndarray, name: str) -> np.ndarray | None:
    """Returns action[N,T,a], padded with zeros."""
    if action_list is None:
        return None
    if len(action_list) != len(length):
        raise SfmError(f"{name}: actions of {len(action_list)} demonstrations, but states of {len(length)}")
    actions = _matrices(action_list, "action", name)
    joined = np.zeros((len(length), length.max(), actions[0].shape[1]), np.float32)
    for i, action in enumerate(actions):
        if len(action) - length[i] not in (0, 1):
            raise SfmError(
                f"{name}: demonstration {i} has {len(action)} actions for {length[i] + 1} states, "
                f"expected {length[i]} (or {length[i] + 1}, the last one unused)"
            )
        joined[i, : length[i]] = action[: length[i]]
    return joined


def _matrices(values: Sequence[Any], kind: str, name: str) -> list[np.ndarray]:
    """Returns float32 [time,dimension] arrays with equal dimensions."""
    if len(values) == 0:
        raise SfmError(f"{name}: there are no demonstrations")
    matrices = [_matrix(value, f"{name}: the {kind}s of demonstration {i}") for i, value in enumerate(values)]
    for i, matrix in enumerate(matrices):
        if matrix.shape[1] != matrices[0].shape[1]:
            raise SfmError(
                f"{name}: demonstration {i} has {kind}s of {matrix.shape[1]} dimensions, "
                f"but demonstration 0 has {matrices[0].shape[1]}"
            )
    return matrices


def _matrix(value: Any, which: str) -> np.ndarray:
    try:
        matrix = np.asarray(value)
    except ValueError as error:  # nested lists of unequal lengths
        raise SfmError(f"{which} do not form a matrix [time, dimension]") from error
    if matrix.dtype.kind not in "biuf":
        raise SfmError(f"{which} are not numbers but of type {matrix.dtype}")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise SfmError(f"{which} have shape {list(matrix.shape)}, expected [time, dimension]")
    with np.errstate(over="ignore"):
        single = matrix.astype(np.float32)
    overflow = np.isinf(single) & np.isfinite(matrix)
    if overflow.any():
        time, dim = np.argwhere(overflow)[0]
        raise SfmError(
            f"{which} are too large for float32: {matrix[time, dim]:g} at time {time}, dimension {dim}"
        )
    return single


def check(demos: Demos, obs_dim: int | None, name: str = "demonstrations") -> None:
    """Refuses demonstrations that are empty, inconsistent, not finite, or not of `obs_dim` dimensions."""
    obs, action, length = demos
    if obs.ndim != 3 or 0 in obs.shape:
        raise SfmError(f"{name}: there are no demonstrations (states of shape {list(obs.shape)})")
    count, times = obs.shape[0], obs.shape[1]
    if length.shape != (count,) or length.dtype.kind not in "iu":
        raise SfmError(f"{name}: length must be {count} whole numbers, is {length.dtype}{list(length.shape)}")
    for i in np.flatnonzero((length < 1) | (length > times - 1)):
        raise SfmError(
            f"{name}: demonstration {i} has length {length[i]}, expected 1 to {times - 1} transitions"
        )
    if obs_dim is not None and obs.shape[2] != obs_dim:
        raise SfmError(f"{name}: states have {obs.shape[2]} dimensions, the environment has {obs_dim}")
    _check_finite(obs, length + 1, "state", name)
    if action is not None:
        if action.ndim != 3 or action.shape[:2] != (count, times - 1):
            raise SfmError(
                f"{name}: actions of shape {list(action.shape)} do not fit states of shape {list(obs.shape)}"
            )
        _check_finite(action, length, "action", name)


def _check_finite(values: np.ndarray, counts: np.ndarray, kind: str, name: str) -> None:
    """values[N,T,d], of which the first counts[N] times matter."""
    if values.dtype.kind not in "biuf":
        raise SfmError(f"{name}: the {kind}s are not numbers but of type {values.dtype}")
    used = np.arange(values.shape[1]) < counts[:, None]
    bad = np.argwhere(~np.isfinite(values) & used[..., None])
    if len(bad):
        demo, time, dim = bad[0]
        what = "NaN" if np.isnan(values[demo, time, dim]) else "infinite"
        raise SfmError(f"{name}: demonstration {demo} is {what} in {kind} {time}, dimension {dim}")
