"""What the numbers of an environment are called, in which unit, and how far they reach."""

import math
from typing import Any, NamedTuple

from sfm.envs.base import Env
from sfm.errors import SfmError


class Signal(NamedTuple):
    """One number of an observation or action."""

    name: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf


def obs_names(env: Env) -> tuple[str, ...]:
    """Names [obs_dim]; `obs[3]` where the environment has none."""
    return _names(getattr(env, "obs_names", ()), "obs", env.obs_dim)


def action_names(env: Env) -> tuple[str, ...]:
    """Names [action_dim]; `action[3]` where the environment has none."""
    return _names(getattr(env, "action_names", ()), "action", env.action_dim)


def obs_signals(env: Env) -> tuple[Signal, ...]:
    """By the environment's own account, or by its names alone."""
    return tuple(getattr(env, "obs_signals", ())) or tuple(map(Signal, obs_names(env)))


def action_signals(env: Env) -> tuple[Signal, ...]:
    """In the actuators' own range."""
    return tuple(
        Signal(name, "", float(low), float(high))
        for name, low, high in zip(action_names(env), env.low, env.high, strict=True)
    )


def no_number(value: float, where: str, step: int, seed: int) -> SfmError:
    """That an environment gave NaN or infinity, and how to see it again."""
    what = "NaN" if math.isnan(value) else "infinity"
    return SfmError(
        f"the environment gave {what} in {where} at step {step} of the episode that reset seed {seed} starts"
    )


def numbered(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the numbers of an array, in C order: `x` alone, `x[3]`, `x[1][0]`."""
    names = [name]
    for size in shape if math.prod(shape) != 1 else ():
        names = [f"{outer}[{i}]" for outer in names for i in range(size)]
    return names


def _names(given: Any, kind: str, count: int) -> tuple[str, ...]:
    """Those given if there are as many; a world whose observation is one number has it as `obs[0]`."""
    names = tuple(given)
    return names if len(names) == count else tuple(f"{kind}[{i}]" for i in range(count))
