"""What a set of demonstrations is, and which ones are refused."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sfm.envs.base import Motion
from sfm.errors import SfmError


class Demos(NamedTuple):
    """N demonstrations of up to T transitions, float32; demonstration i has length[i] + 1 states.

    obs[N,T+1,o], padded with the last state; action[N,T,a], padded with zeros, or None; length[N] int32.
    Where they come from MuJoCo also its positions and velocities in those states, qpos[N,T+1,nq] and
    qvel[N,T+1,nv]: both or neither. `names` [o] says which dimensions of the environment's states they have,
    where that is not all of them in their order. reward[N,T], padded with zeros, or None: nothing is learned
    from it, it tells how good the expert is.
    """

    obs: np.ndarray
    action: np.ndarray | None
    length: np.ndarray
    qpos: np.ndarray | None = None
    qvel: np.ndarray | None = None
    names: tuple[str, ...] | None = None
    reward: np.ndarray | None = None

    @property
    def returns(self) -> np.ndarray | None:
        """Of each demonstration [N], float64, where they are known."""
        return None if self.reward is None else self.reward.sum(1, np.float64)

    def episodes(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Each demonstration without padding: obs[t+1,o], action[t,a] or None."""
        for i, length in enumerate(self.length):
            yield self.obs[i, : length + 1], None if self.action is None else self.action[i, :length]

    def motion(self) -> Motion | None:
        """The simulator's states of all demonstrations, but for the last of each, after which none comes."""
        if self.qpos is None or self.qvel is None:
            return None
        inside = np.arange(self.obs.shape[1])[None] < self.length[:, None]
        return Motion(self.qpos[inside], self.qvel[inside])

    def thinned(self, every: int) -> "Demos":
        """Each `every`-th state, as decisions that hold for that many steps see them, and the mean of the
        actions between them; what is left over at an end goes."""
        length = self.length // every
        longest = int(length.max())
        obs, qpos, qvel = (
            part if part is None else part[:, : longest * every + 1 : every]
            for part in (self.obs, self.qpos, self.qvel)
        )
        action = self.action
        if action is not None:
            action = action[:, : longest * every].reshape(len(action), longest, every, -1).mean(2)
        return self._replace(obs=obs, action=action, length=length, qpos=qpos, qvel=qvel, reward=None)

    def only(self, index: int) -> "Demos":
        """One of the demonstrations, without padding."""
        one, times = slice(index, index + 1), int(self.length[index])
        action, reward = (None if x is None else x[one, :times] for x in (self.action, self.reward))
        qpos, qvel = (None if x is None else x[one, : times + 1] for x in (self.qpos, self.qvel))
        return Demos(self.obs[one, : times + 1], action, self.length[one], qpos, qvel, self.names, reward)

    @staticmethod
    def from_list(
        obs_list: Sequence[Any],
        action_list: Sequence[Any] | None = None,
        name: str = "demonstrations",
        qpos_list: Sequence[Any] | None = None,
        qvel_list: Sequence[Any] | None = None,
        reward_list: Sequence[Any] | None = None,
    ) -> "Demos":
        """Joins and checks demonstrations of any length: obs[t+1,o], action[t,a] or [t+1,a], reward[t].

        An action after the last state, as some recorders store it, is dropped. `name` begins each error.
        qpos[t+1,nq] and qvel[t+1,nv] are the simulator's.
        """
        from sfm.demos.stack import Stack

        beside = {"action": action_list, "qpos": qpos_list, "qvel": qvel_list, "reward": reward_list}
        for kind, given in beside.items():
            if given is not None and len(given) != len(obs_list):
                what = kind if kind.startswith("q") else f"{kind}s"
                raise SfmError(
                    f"{name}: {what} of {len(given)} demonstrations, but states of {len(obs_list)}"
                )
        stack = Stack(name)
        for i, obs in enumerate(obs_list):
            stack.add(obs, **{kind: None if given is None else given[i] for kind, given in beside.items()})
        return stack.demos()


def check(demos: Demos, obs_dim: int | None, name: str = "demonstrations") -> None:
    """Refuses demonstrations that are empty, inconsistent, not finite, or not of `obs_dim` dimensions."""
    obs, action, length = demos[:3]
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
    if action is not None and (action.ndim != 3 or action.shape[:2] != (count, times - 1)):
        raise SfmError(
            f"{name}: actions of shape {list(action.shape)} do not fit states of shape {list(obs.shape)}"
        )
    simulator = {"qpos": demos.qpos, "qvel": demos.qvel}
    for kind, values in simulator.items():
        if values is not None and (values.ndim != 3 or values.shape[:2] != obs.shape[:2]):
            shape = list(values.shape)
            raise SfmError(f"{name}: {kind} of shape {shape} does not fit states of shape {list(obs.shape)}")
    for kind, values in {"state": obs, "action": action, **simulator}.items():
        if values is None:
            continue
        if values.dtype.kind not in "biuf":
            raise SfmError(f"{name}: the {kind}s are not numbers but of type {values.dtype}")
        for i, steps in enumerate(length):
            check_finite(values[i, : steps + (kind != "action")], kind, i, name)


def check_actions(demos: Demos, action_dim: int, who: str) -> None:
    """Refuses demonstrations from which `who` cannot learn actions."""
    if demos.action is None:
        raise SfmError(
            f"{who} needs the expert's actions, and the demonstrations have states alone: give --demos with "
            "actions, or choose a preset that learns from states, such as sfm-td3-cpu or bco"
        )
    if (dims := demos.action.shape[2]) != action_dim:
        raise SfmError(f"demonstrations: actions have {dims} dimensions, the environment has {action_dim}")
    largest = float(np.abs(demos.action).max())
    if largest > 1 + 1e-4:
        raise SfmError(
            f"demonstrations: actions reach {largest:.3g}, but here they lie in [-1, 1], the range of the "
            "environment's actions scaled to it: scale them likewise"
        )


def check_finite(values: np.ndarray, kind: str, demo: int, name: str) -> None:
    """Refuses values[t,d] with a NaN or an infinity, and says where it is."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        time, dim = bad[0]
        what = "NaN" if np.isnan(values[time, dim]) else "infinite"
        raise SfmError(f"{name}: demonstration {demo} is {what} in {kind} {time}, dimension {dim}")
