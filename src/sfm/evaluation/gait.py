"""How something walks: the frequency of its strides and its speed, of a policy or of a demonstration.

They tell a stride from a shuffle where returns do not: small steps may give the right speed, too.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from sfm.demos import Demos
from sfm.demos.motion import cycle, joints
from sfm.envs import Env
from sfm.envs.base import MujocoEnv, as_mujoco
from sfm.envs.watched import Watched
from sfm.errors import SfmError
from sfm.training.rollout import EVALUATE, play, reset_seed

NO_CYCLE = 0.6  # of its variance: what differs more from itself after any time repeats nothing


class Gait(NamedTuple):
    """Of one or several episodes."""

    frequency: float | None  # strides per second; None where nothing repeats
    speed: float | None  # metres per second along the ground; None for what cannot move along

    @property
    def words(self) -> str:
        pace = "nothing repeats" if self.frequency is None else f"{self.frequency:.2f} cycles per second"
        return pace if self.speed is None else f"{pace}, {self.speed:.2f} m/s"


def stride_frequency(signals: np.ndarray, step: float) -> float | None:
    """Cycles per second of signals [T, n], `step` seconds apart; None where nothing repeats.

    Joint angles are best; whole observations serve as well, if no column drifts away.
    """
    found = cycle.period(np.asarray(signals, np.float64), step)
    return 1 / found.seconds if found and found.difference < NO_CYCLE else None


def speed(qpos: np.ndarray, model: Any, step: float) -> float | None:
    """Along the ground, from beginning to end."""
    along = joints.root(model).along
    if not along or len(qpos) < 2:
        return None
    return float(np.linalg.norm(qpos[-1, along] - qpos[0, along])) / ((len(qpos) - 1) * step)


def gait(episodes: list[np.ndarray], model: Any, step: float) -> Gait:
    """Of states qpos [T+1, nq] of each episode: medians."""
    limbs = joints.columns(model, joints.limbs(model))
    frequencies = [f for qpos in episodes if (f := stride_frequency(qpos[:, limbs], step))]
    speeds = [v for qpos in episodes if (v := speed(qpos, model, step)) is not None]
    regular = 2 * len(frequencies) > len(episodes)
    return Gait(
        float(np.median(frequencies)) if regular else None, float(np.median(speeds)) if speeds else None
    )


def of_demos(demos: Demos, env: Env) -> Gait:
    """Of demonstrations that have the states of their simulator."""
    if demos.qpos is None:
        raise SfmError("these demonstrations have no qpos: their gait cannot be told")
    shown = _shown(env)
    episodes = [qpos[: n + 1].astype(np.float64) for qpos, n in zip(demos.qpos, demos.length, strict=True)]
    return gait(episodes, shown.model, shown.control_timestep)


def of_policy(env: Env, policy: Callable[..., np.ndarray], episodes: int = 3, seed: int = 0) -> Gait:
    """Of noise-free episodes, from the starts that `evaluate` uses. A step of `env` is a decision."""
    shown, watched = _shown(env), Watched(env)
    starts = [reset_seed(seed, EVALUATE, k) for k in range(episodes)]
    play([cast(Any, watched)], starts, policy)
    seen = [states[0] for k in range(episodes) if (states := watched.states(k))]
    return gait(seen, shown.model, shown.control_timestep)


def _shown(env: Env) -> MujocoEnv:
    shown = as_mujoco(env)
    if shown is None:
        raise SfmError(f"'{env.name}' does not show its simulation: its gait cannot be told")
    return shown
