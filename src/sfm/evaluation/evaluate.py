"""How well a policy does: returns of noise-free episodes, and of random actions to compare with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfm.config import whole
from sfm.envs import Env, make
from sfm.errors import SfmError
from sfm.training.rollout import EVALUATE, play, reset_seed


def evaluate(
    env: Env,
    policy: Any,
    episodes: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
    *,
    hold: int = 1,
) -> np.ndarray:
    """Returns [episodes]; the starts depend on `seed` alone, so that policies can be compared."""
    starts = [reset_seed(seed, EVALUATE, k) for k in range(episodes)]
    return play([env], starts, policy, progress=progress, hold=hold).returns.astype(np.float64)


def evaluate_policy(
    policy: Callable[[np.ndarray], np.ndarray], env: str | Env, episodes: int = 10, seed: int = 0
) -> np.ndarray:
    """Returns [episodes] of a policy without exploration noise; equal seeds mean equal starts.

    policy: what `load_policy` gives, whose actions hold as long as in training, or any function from obs
    [N, o] to actions [N, a] in [-1, 1].
    env: a name, as `make_env` takes it, or an environment, which stays open.
    """
    episodes, seed = whole(episodes, "episodes"), whole(seed, "seed")
    if episodes < 1 or seed < 0:
        raise SfmError("episodes must be at least 1, and seed not negative")
    world = make(env) if isinstance(env, str) else env
    if (expected := getattr(policy, "obs_dim", world.obs_dim)) != world.obs_dim:
        raise SfmError(f"the policy takes {expected} numbers, but '{world.name}' observes {world.obs_dim}")
    hold = getattr(policy, "action_repeat", 1)
    returns = evaluate(world, lambda obs, noise: policy(obs), episodes, seed, hold=hold)
    if world is not env:
        world.close()
    return returns


def random_policy(action_dim: int, seed: int = 0) -> Callable[..., np.ndarray]:
    """Uniform actions: (obs [N, o], noise) -> [N, a], a new draw at every call."""
    rng = np.random.default_rng(seed)
    return lambda obs, noise=None: rng.uniform(-1, 1, (len(obs), action_dim)).astype(np.float32)
