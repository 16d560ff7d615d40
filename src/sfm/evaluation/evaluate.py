"""How well a policy does: returns of noise-free episodes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfm.envs import Env
from sfm.training.rollout import EVALUATE, acting, reset_seed, rollout

__all__ = ["evaluate"]


def evaluate(
    env: Env,
    policy: Any,
    episodes: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """Returns [episodes]; the starts depend on `seed` alone, so that policies can be compared."""
    returns = np.zeros(episodes)
    for k in range(episodes):
        returns[k] = rollout([env], [reset_seed(seed, EVALUATE, k)], acting(policy)).returns[0]
        progress(k + 1)
    return returns
