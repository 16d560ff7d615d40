"""Demonstrations from a trained policy, with their provenance."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from sfm.config import Config, flat, to_dict, understood
from sfm.demos import Demos
from sfm.envs import Env
from sfm.envs.base import rewarded
from sfm.envs.watched import Watched
from sfm.policy import Policy
from sfm.presets import PRESETS, preset
from sfm.training.rollout import DEMONSTRATE, play, reset_seed


def changed(meta: dict[str, Any]) -> dict[str, Any]:
    """The settings in which a policy's configuration differs from its preset, by their dotted names."""
    if meta.get("preset") not in PRESETS:
        return {}
    usual = dict(flat(to_dict(preset(meta["preset"]))))
    own = ("task", "preset", "seed", "seeds", "schedule.steps")
    settings = flat(understood(Config, meta["config"], training=False))
    return {k: v for k, v in settings if k in usual and usual[k] != v and k not in own}


def collect(
    env: Env,
    policy: Policy,
    count: int,
    candidates: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Demos, dict[str, Any]]:
    """The `count` best of `candidates` noise-free episodes, or the first if nothing rewards; their origin."""
    starts = [reset_seed(seed, DEMONSTRATE, k) for k in range(candidates)]
    watched = Watched(env)
    played = play([cast(Any, watched)], starts, policy, progress=progress, hold=policy.action_repeat)
    returns = played.returns.astype(np.float64)
    best, chosen = "first", list(range(count))
    told: dict[str, Any] = {}
    if rewarded(env):
        best, chosen = "of highest return", sorted(np.argsort(-returns)[:count].tolist())
        told = {f"all_returns_{of}": round(float(getattr(returns, of)()), 3) for of in ("mean", "std", "min")}
        told["returns"] = [round(float(returns[k]), 3) for k in chosen]
    seen = [states for k in chosen if (states := watched.states(k))]
    qpos, qvel = zip(*seen, strict=True) if seen else (None, None)
    steps = played.length
    demos = Demos.from_list(
        [played.obs[k, : steps[k] + 1] for k in chosen],
        [played.action[k, : steps[k]] for k in chosen],
        qpos_list=qpos,
        qvel_list=qvel,
        reward_list=[played.reward[k, : steps[k]] for k in chosen] if told else None,
    )
    return demos, {
        "task": env.name,
        **told,
        "chosen": f"the {count} {best} among {candidates} noise-free episodes",
        "episodes": chosen,
        "reset_seeds": [starts[k] for k in chosen],
        "policy": {k: policy.meta.get(k) for k in ("preset", "seed", "steps", "updates")}
        | {"changed": changed(policy.meta)},
        "versions": {name: version(name) for name in ("dm_control", "mujoco", "jax", "numpy")},
    }
