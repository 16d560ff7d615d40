"""How well a policy does: returns of noise-free episodes, and of random actions to compare with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfm.envs import Env
from sfm.training.rollout import EVALUATE, play, reset_seed

__all__ = ["evaluate", "random_policy"]


def evaluate(
    env: Env,
    policy: Any,
    episodes: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """Returns [episodes]; the starts depend on `seed` alone, so that policies can be compared."""
    starts = [reset_seed(seed, EVALUATE, k) for k in range(episodes)]
    return play([env], starts, policy, progress=progress).returns.astype(np.float64)


def random_policy(action_dim: int, seed: int = 0) -> Callable[..., np.ndarray]:
    """Uniform actions: (obs [N, o], noise) -> [N, a], a new draw at every call."""
    rng = np.random.default_rng(seed)
    return lambda obs, noise=None: rng.uniform(-1, 1, (len(obs), action_dim)).astype(np.float32)
