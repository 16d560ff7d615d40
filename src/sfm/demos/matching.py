"""Which dimensions of a state demonstrations have, and in which of them they are matched.

A demonstration may have a part of a state alone: angles without velocities, no forces, no root. It says by
`names` which dimensions it has. Features, discriminators and likeness see those; the policy sees all.
"""

import fnmatch
from collections.abc import Sequence

import numpy as np

from sfm.config import Config
from sfm.demos.types import Demos
from sfm.envs import Env
from sfm.errors import SfmError, unknown


def names_of(env: Env) -> tuple[str, ...]:
    """The dimensions of what an environment observes; by number where it has no names."""
    return getattr(env, "obs_names", None) or tuple(f"obs[{i}]" for i in range(env.obs_dim))


def matched(demos: Demos | None, patterns: Sequence[str], env: Env) -> tuple[int, ...] | None:
    """The dimensions that the demonstrations have and some pattern, if there are any, names; None: all."""
    names = names_of(env)
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
    names = names_of(env)
    for name in demos.names:
        if name not in names:
            raise unknown(f"dimension of '{env.name}'", name, names)
    obs = np.zeros((*demos.obs.shape[:2], len(names)), np.float32)
    obs[..., [names.index(name) for name in demos.names]] = demos.obs
    return demos._replace(obs=obs, names=None)


def check_part(config: Config, part: tuple[int, ...] | None, env: Env) -> None:
    """Refuses a part of the state where whole states are needed, with the reason."""
    if part is None or not (why := config.needs_whole_states):
        return
    names = names_of(env)
    missing = [name for i, name in enumerate(names) if i not in part]
    who = config.preset or config.objective.kind
    raise SfmError(
        f"{who} needs whole states, but the demonstrations are matched without {_some(missing)}: {why}"
    )


def _some(names: list[str]) -> str:
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")
