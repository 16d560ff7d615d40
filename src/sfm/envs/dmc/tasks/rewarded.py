"""A task of the suite with another reward: same starts, same observations."""

from collections.abc import Callable
from typing import Any

from dm_control.rl import control


def clip01(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def rewarded(physics, task: Any, reward: Callable, environment_kwargs: dict | None, **timing: float):
    """The environment of `task` in all but the reward, which is `reward(physics)`."""
    task.get_reward = reward
    return control.Environment(physics, task, **timing, **(environment_kwargs or {}))
