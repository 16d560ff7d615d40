"""A trained policy as a file and as an object with Stable-Baselines3's `predict`. Acts in NumPy."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sfm import storage
from sfm.acting import Actor, named
from sfm.config import Config, LearnerConfig, flat, from_dict, to_dict, understood
from sfm.demos.bundled import names, policy_file
from sfm.envs.actions import ActionScale
from sfm.envs.spaces import batch_of, flatten
from sfm.errors import SfmError
from sfm.folding import folded

FORM = ("width", "depth", "embedding", "actor_norm", "log_std_min", "log_std_max")  # of a learner's networks
UNFIT = "the policy file does not fit its configuration: was it written by another version?"
EARLIER = "checkpoint"  # what earlier versions called the kept policy


class Policy:
    """obs -> action. `meta` tells where it comes from (task, seed, steps).

    `policy(obs)` gives actions in [-1, 1], as `sfm.make_env` takes them; `policy.predict(obs)` gives them in
    the actuators' own range, as `gymnasium.make` and dm_control do.
    """

    def __init__(self, act: Callable[..., np.ndarray], meta: dict[str, Any]):
        """`act`: (obs [..., o], noise [..., a] or None) -> action [..., a] in [-1, 1]."""
        self.act, self.meta = act, meta
        self.obs_dim, self.action_dim = int(meta["obs_dim"]), int(meta["action_dim"])
        self.action_repeat = int(meta.get("action_repeat", 1))  # steps for which an action holds
        self.obs_shape = meta.get("obs_shape") or [self.obs_dim]
        self.action_shape = tuple(meta.get("action_shape") or [self.action_dim])
        self.scale = ActionScale(meta.get("action_low", -1.0), meta.get("action_high", 1.0), np.float32)
        # A learner's actions are within [-1, 1] already.
        self._as_acted = isinstance(act, Actor) and bool(
            np.all(self.scale.low == -1) and np.all(self.scale.high == 1)
        )

    def __call__(self, obs: np.ndarray, noise: np.ndarray | None = None) -> np.ndarray:
        """obs [..., o] float32, standard normal noise [..., a] to explore -> action [..., a] in [-1, 1]."""
        return self.act(obs, noise)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        rng: np.random.Generator | None = None,
    ) -> tuple[np.ndarray, Any]:
        """(action, state) for one observation or a batch [B, ...], in the actuators' own range.

        Both have the shapes of the environment's own spaces; a Dict observation is a dict. The vector of an
        observation, [o] or [B, o] as `sfm.make_env` gives it, is taken, too.
        Where actions hold for several steps, pass the returned state to the next call, and None at the start
        of an episode: it repeats the action as long as it holds. `deterministic=False` adds the exploration
        noise of training, drawn from `rng`.
        """
        obs = self._vector(observation)
        noise = None
        if not deterministic:
            shape = *obs.shape[:-1], self.action_dim
            noise = (rng or np.random.default_rng()).standard_normal(shape, np.float32)
        if state is not None and state[0] < self.action_repeat and not np.any(episode_start):
            taken, action = state
        else:
            taken, action = 0, self.act(obs, noise)
            if not self._as_acted:
                action = self.scale.to_actuators(action)
            if len(self.action_shape) != 1:
                action = action.reshape(*obs.shape[:-1], *self.action_shape)
        return action, None if self.action_repeat == 1 else (taken + 1, action)

    def _vector(self, observation: Any) -> np.ndarray:
        """[o] or [B, o] of an observation or a batch, in its own shape or as vectors already."""
        if isinstance(observation, np.ndarray) or not isinstance(observation, Mapping):
            sizes = np.shape(observation)
            if sizes == (self.obs_dim,) or (sizes[1:] == (self.obs_dim,) and list(sizes) != self.obs_shape):
                return np.asarray(observation, np.float32)
        return flatten(self.obs_shape, observation, batch_of(self.obs_shape, observation))


def policy_path(folder: Path, which: str, seed: int) -> Path:
    """`which`: kept (the latest average or the assessed best) or current (the latest)."""
    return Path(folder) / "policies" / f"{which}_seed{seed}.safetensors"


def save_policy(path: Path, module: Any, config: Config, **meta: Any) -> None:
    from sfm.training.checkpoint import flatten

    storage.write_arrays(path, flatten(module), {"config": to_dict(config), **meta})


def load_policy(path: str | Path, *, which: str = "kept", seed: int | None = None) -> Policy:
    """The policy of a run folder, of one policy file, or (by the task's name) a bundled expert.

    For a folder: `which` is "kept" or "current", `seed` defaults to the run's first.
    """
    path = find_policy(path, which, seed)
    arrays, meta = _read(path)
    try:
        actor = Actor(arrays, meta["config"]["learner"]["kind"], acting(meta["config"]).learner, folded)
        fits = named(actor.steps) == set(arrays)
        fits = fits and actor(np.zeros(meta["obs_dim"], np.float32)).shape == (meta["action_dim"],)
    except (KeyError, ValueError) as error:
        raise SfmError(UNFIT) from error
    if not fits:
        raise SfmError(UNFIT)
    return Policy(actor, meta)


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    arrays, meta = storage.read_arrays(path)
    if "config" not in meta or "obs_dim" not in meta:
        raise SfmError(f"{path} is not a policy; give a run folder or a file from its 'policies' folder")
    return arrays, meta


def find_policy(path: str | Path, which: str = "kept", seed: int | None = None) -> Path:
    """The file that `load_policy` reads."""
    path = Path(path)
    if not os.path.isdir(path):
        found = path if os.path.exists(path) else policy_file(str(path))
        if found is None:
            raise SfmError(f"{str(path)[:200]} not found; by name there are {', '.join(names())}")
        return found
    which = "kept" if which == EARLIER else which
    if which not in ("kept", "current"):
        raise SfmError(f"which must be 'kept' or 'current', not '{which}'")
    anyone = "*" if seed is None else seed
    for name in (which, EARLIER) if which == "kept" else (which,):
        found = path.glob(f"policies/{name}_seed{anyone}.safetensors")
        if first := min(found, key=lambda p: (len(p.name), p.name), default=None):
            return first
    of = "" if seed is None else f" of seed {seed}"
    raise SfmError(f"{path} holds no policy{of} yet: is it a run folder, and has it saved once?")


def differences(policy: Policy, config: Config) -> list[str]:
    """Settings that the policy's networks have otherwise than those of a run of `config`, as name=value."""
    theirs, ours = (dict(flat(to_dict(acting(c)))) for c in (policy.meta["config"], to_dict(config)))
    names = ("learner.kind", *(f"learner.{name}" for name in FORM), "normalise")
    return [f"{name}={theirs[name]}" for name in names if name in theirs and theirs[name] != ours.get(name)]


def acting(config: dict[str, Any]) -> Config:
    """What of a configuration decides how its policy acts; how the policy was trained is of no matter."""
    whole = understood(Config, config, training=False)
    learner = from_dict(LearnerConfig, whole["learner"], training=False)
    form = {name: getattr(learner, name) for name in (*FORM, "explore_noise") if hasattr(learner, name)}
    normalise = "all" if whole.get("normalise") == "all" else "none"
    return Config(learner=type(learner)(**form), normalise=normalise)


def networks(path: Path) -> Any:
    """The policy in a file as the module that JAX trains, with NumPy arrays."""
    import jax

    from sfm.agents.agent import make_agent
    from sfm.training.checkpoint import flatten_names

    arrays, meta = _read(path)
    agent = make_agent(acting(meta["config"]), meta["obs_dim"], meta["action_dim"])
    shapes = jax.eval_shape(lambda: agent.policy(agent.actor(np.random.default_rng(0))))
    names, treedef = flatten_names(shapes)
    if set(names) != set(arrays):
        raise SfmError(UNFIT)
    return jax.tree.unflatten(treedef, [arrays[name] for name in names])
