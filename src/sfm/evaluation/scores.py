"""Returns on a common scale: 0 is a policy of random actions, 1 the expert."""

import functools
from typing import NamedTuple

import numpy as np

from sfm import storage
from sfm.demos.bundled import DATA


class Reference(NamedTuple):
    """Mean returns of a task, of random actions and, without noise, of our own expert."""

    random: float
    expert: float
    random_error: float  # standard error of the mean
    random_episodes: int
    expert_episodes: int

    def score(self, returns):
        """Of one return or an array of them."""
        return (returns - self.random) / (self.expert - self.random)


@functools.cache
def reference(task: str) -> Reference | None:
    """What scores of a task are measured by; None for tasks that are not bundled."""
    found = storage.read_json(DATA / "returns.json").get(task)
    return Reference(**found) if found else None


def normalised(task: str, returns: np.ndarray) -> np.ndarray | None:
    """returns [...] -> scores [...]; None for tasks that are not bundled."""
    scale = reference(task)
    return None if scale is None else scale.score(returns)
