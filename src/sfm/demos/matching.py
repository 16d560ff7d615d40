"""Which dimensions of a state demonstrations have, and in which of them they are matched.

A demonstration may have a part of a state alone: angles without velocities, no forces, no root. It says by
`names` which dimensions it has. Features, discriminators and likeness see those; the policy sees all.
"""

import fnmatch
import importlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfm.config import Config
from sfm.demos.types import Demos, check
from sfm.envs import Env, is_robot
from sfm.envs.base import as_mujoco, check_motion
from sfm.envs.signals import obs_names
from sfm.errors import SfmError, unknown

RATE_STATES = 500  # at most, tell the rate of a motion


def observations_of(env: Env) -> tuple[str, ...]:
    """To which of an environment's observations each dimension belongs: 'velocity/knee' to 'velocity', and of
    a robot's 'torso.gravity_x' to '.gravity_', 'knee' to its joints and 'knee.velocity' to '.velocity'."""
    names = obs_names(env)
    if is_robot(env.name):
        return tuple(re.sub(r"(?<=_)[xyz\d]*$", "", "." + name.partition(".")[2]) for name in names)
    return tuple(re.split(r"[/\[]", name)[0] for name in names)


def matched(demos: Demos | None, patterns: Sequence[str], env: Env) -> tuple[int, ...] | None:
    """The dimensions that the demonstrations have and some pattern, if there are any, names; None: all."""
    names = obs_names(env)
    for pattern in patterns:
        if not any(_fits(name, pattern) for name in names):
            raise unknown(f"dimension of '{env.name}'", pattern, names)
    had = names if demos is None or demos.names is None else demos.names
    chosen = tuple(
        i
        for i, name in enumerate(names)
        if name in had and (not patterns or any(_fits(name, p) for p in patterns))
    )
    if not chosen:
        raise SfmError(f"the demonstrations have nothing of what match names: they have {', '.join(had)}")
    return None if len(chosen) == len(names) else chosen


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatch.fnmatchcase(name, pattern)  # a name may have brackets


def aligned(demos: Demos, env: Env) -> Demos:
    """With states as the environment has them; zeros, which mean nothing, where dimensions are missing."""
    if demos.names is None:
        return demos
    names = obs_names(env)
    for name in demos.names:
        if name not in names:
            raise unknown(f"dimension of '{env.name}'", name, names)
    obs = np.zeros((*demos.obs.shape[:2], len(names)), np.float32)
    obs[..., [names.index(name) for name in demos.names]] = demos.obs
    return demos._replace(obs=obs, names=None)


def told(env: Env, obs: np.ndarray) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """What positions and velocities tell of states obs [T, o], and its names; None: that is all of them."""
    beyond = getattr(env, "beyond_motion", ())
    if not beyond:
        return obs, None
    names = obs_names(env)
    kept = [i for i, name in enumerate(names) if name not in beyond]
    return obs[:, kept], tuple(names[i] for i in kept)


def check_fit(config: Config, demos: Demos, env: Env) -> None:
    """Refuses demonstrations that a run in this environment cannot imitate."""
    check(aligned(demos, env), env.obs_dim)
    check_part(config, matched(demos, config.match, env), env)
    shown, motion = as_mujoco(env), demos.motion()
    if shown is not None and motion is not None:
        check_motion(motion, shown.model, env.name)
    check_rate(demos, env)


def check_rate(demos: Demos, env: Env) -> None:
    """Refuses a motion whose positions go on faster or slower than its velocities say."""
    shown, motion = as_mujoco(env), demos.motion()
    if shown is None or motion is None:
        return
    mujoco: Any = importlib.import_module("mujoco")  # its functions are unknown to type checkers
    assert demos.qpos is not None
    inside = np.arange(demos.obs.shape[1] - 1)[None] < demos.length[:, None]
    after, moved, along, own = demos.qpos[:, 1:][inside], np.empty(shown.model.nv), 0.0, 0.0
    for k in range(0, len(after), max(1, len(after) // RATE_STATES)):
        mujoco.mj_differentiatePos(
            shown.model, moved, env.control_timestep, *(x[k].astype(np.float64) for x in (motion.qpos, after))
        )
        along, own = along + float(moved @ motion.qvel[k]), own + float(np.square(motion.qvel[k]).sum())
    if own > 1e-6 and not 0.75 < along / own < 1.33:
        raise SfmError(
            f"the demonstrations' motion is for steps of {env.control_timestep * along / own:.2g} s, but a "
            f"step of '{env.name}' takes {env.control_timestep:.2g} s: make them anew, or give --control-hz"
        )


def check_part(config: Config, part: tuple[int, ...] | None, env: Env) -> None:
    """Refuses a part of the state where whole states are needed, with the reason."""
    if part is None or not (why := config.needs_whole_states):
        return
    names = obs_names(env)
    missing = [name for i, name in enumerate(names) if i not in part]
    who = config.preset or config.objective.kind
    raise SfmError(
        f"{who} needs whole states, but the demonstrations are matched without {_some(missing)}: {why}"
    )


def _some(names: list[str]) -> str:
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")
