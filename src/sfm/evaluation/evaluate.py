"""How well a policy does: returns and likeness of noise-free episodes, and random actions to compare with."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sfm.config import whole
from sfm.envs import Env
from sfm.envs.base import rewarded
from sfm.envs.worlds import world as find_world
from sfm.errors import SfmError
from sfm.training.buffer import Episodes
from sfm.training.likeness import Likeness
from sfm.training.rollout import EVALUATE, play, reset_seed


class Judged(NamedTuple):
    """What a policy's episodes were like."""

    returns: np.ndarray  # [episodes]
    likeness: float  # of all of them; NaN where there is nothing to tell it by

    @property
    def merit(self) -> float:
        """By which one of several is chosen: the return, or the likeness where there is no reward."""
        return self.likeness if np.isnan(self.returns).all() else float(self.returns.mean())


def judge(env: Env, policy: Any, episodes: int, seed: int, alike: Likeness | None) -> Judged:
    """`alike`: made for this environment, if there are demonstrations."""
    played = episodes_of(env, policy, episodes, seed)
    return Judged(_returns(env, played), alike(played.states) if alike else math.nan)


def evaluate(
    env: Env,
    policy: Any,
    episodes: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
    *,
    hold: int = 1,
) -> np.ndarray:
    """Returns [episodes]; the starts depend on `seed` alone, so that policies can be compared. NaN where the
    environment has no reward."""
    return _returns(env, episodes_of(env, policy, episodes, seed, progress=progress, hold=hold))


def _returns(env: Env, played: Episodes) -> np.ndarray:
    returns = played.returns.astype(np.float64)
    return returns if rewarded(env) else np.full(len(returns), np.nan)


def episodes_of(env: Env, policy: Any, episodes: int, seed: int, **how: Any) -> Episodes:
    """From starts that depend on `seed` alone; `how` as in `play`."""
    return play([env], [reset_seed(seed, EVALUATE, k) for k in range(episodes)], policy, **how)


def evaluate_policy(
    policy: Callable[[np.ndarray], np.ndarray], env: Any, episodes: int = 10, seed: int = 0
) -> np.ndarray:
    """Returns [episodes] of a policy without exploration noise; equal seeds mean equal starts.

    policy: what `load_policy` gives, whose actions hold as long as in training, or any function from obs
    [N, o] to actions [N, a] in [-1, 1].
    env: as in `sfm.train`; an `sfm.envs.Env` stays open.
    """
    episodes, seed = whole(episodes, "episodes"), whole(seed, "seed")
    if episodes < 1 or seed < 0:
        raise SfmError("episodes must be at least 1, and seed not negative")
    world = env if hasattr(env, "obs_dim") else find_world(env).make()
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


def seen(env: Env, episodes: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest value [o] of each observation under random actions."""
    rng, states = np.random.default_rng(0), []
    for episode in range(episodes):
        states.append(env.reset(episode))
        for _ in range(min(steps, env.max_steps)):
            obs, _, terminated, truncated = env.step(rng.uniform(-1, 1, env.action_dim))
            states.append(obs)
            if terminated or truncated:
                break
    return np.min(states, axis=0), np.max(states, axis=0)
