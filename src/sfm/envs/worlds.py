"""What users call an environment, and how a later process finds it again.

A name (a task, a Gymnasium id, `module:Id-v0`, `module:Class`), an environment of Gymnasium, or a function or
class that makes one. An environment is copied by its spec, since several are needed. A run keeps a record of
how it was made; a record only ever calls classes of environments and wrappers: files come from anywhere.
"""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gymnasium
from gymnasium.envs.registration import EnvSpec

from sfm.envs.base import Env
from sfm.envs.catalog import make
from sfm.envs.gymnasium_env import GymnasiumEnv, build, spec_of, with_kwargs
from sfm.envs.importing import class_of, location, one_line
from sfm.errors import SfmError

Record = dict[str, Any]
"""JSON: `named` says whether the name is tried first, `spec` how Gymnasium makes it, `made_by` who did."""


class World(NamedTuple):
    name: str
    make: Callable[[], Env]
    record: Record | None = None
    """None where the name says it all."""


def world(env: Any, kwargs: Mapping[str, Any] | None = None) -> World:
    """What a user gave as an environment; kwargs go to Gymnasium."""
    kwargs = dict(kwargs or {})
    if isinstance(env, World):
        return env
    if isinstance(env, str):
        return _by_name(env, kwargs)
    if isinstance(env, gymnasium.Env):
        return _by_instance(env, kwargs)
    if isinstance(env, type) and issubclass(env, gymnasium.Env):
        return _by_spec(spec_of(env, kwargs))
    if callable(env):
        return _by_function(env, kwargs)
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise SfmError("give one environment, not a vector of them: schedule.envs says how many are made")
    if hasattr(env, "obs_dim"):
        raise SfmError(
            "several are needed: give the environment's name, or a function that makes one each time"
        )
    raise SfmError(
        "env must be a task name, a Gymnasium id, a Gymnasium environment or a function that makes one, "
        f"not a {type(env).__name__}"
    )


def again(name: str, kwargs: Mapping[str, Any], record: Record | None) -> World:
    """The world of a run or a policy, from what was kept of it."""
    known = {"named": True} if record is None else record
    if not isinstance(known, dict):
        raise SfmError(f"the record of the environment '{name}' is not a JSON object")

    def remade() -> Env:
        try:
            if known.get("named"):
                return make(name, kwargs)
        except SfmError:
            if not known.get("spec"):
                raise
        return GymnasiumEnv(build(_recalled(name, known)), name)

    return World(name, remade, record)


def _by_name(name: str, kwargs: dict[str, Any]) -> World:
    def named() -> Env:
        return make(name, kwargs)

    spec = gymnasium.registry.get(name)
    if spec is None or ":" in name:
        return World(name, named)
    return World(name, named, {"named": True, "spec": _kept(with_kwargs(spec, kwargs))})


def _by_instance(env: gymnasium.Env, kwargs: dict[str, Any]) -> World:
    name = type(env.unwrapped).__name__
    if kwargs:
        raise SfmError("env_kwargs go with a name; an environment has been made with its own already")
    if env.spec is None:
        raise SfmError(
            f"several copies of this {name} are needed, and it has no spec to make them by: register it with "
            "Gymnasium and use gymnasium.make, or give a function that makes one each time"
        )
    if odd := [wrapper.name for wrapper in env.spec.additional_wrappers if wrapper.kwargs is None]:
        raise SfmError(
            f"several copies of this {name} are needed, and its wrapper {odd[0]} cannot be copied: let it "
            "inherit from gymnasium.utils.RecordConstructorArgs, or give a function that makes one each time"
        )
    return _by_spec(env.spec)


def _by_spec(spec: EnvSpec) -> World:
    return World(
        spec.id,
        lambda: GymnasiumEnv(build(spec), spec.id),
        {"named": False, "spec": _kept(spec), "made_by": spec.id},
    )


def _by_function(function: Callable[..., Any], kwargs: dict[str, Any]) -> World:
    name = getattr(function, "__name__", "custom")

    def made() -> Env:
        try:
            env = function(**kwargs)
        except SfmError:
            raise
        except Exception as error:
            what = f"the function {name}, which makes the environment, failed"
            raise SfmError(f"{what}: {one_line(error)}") from error
        if isinstance(env, gymnasium.Env):
            return GymnasiumEnv(env, name)
        if not hasattr(env, "obs_dim"):
            raise SfmError(f"the function given makes a {type(env).__name__}, not an environment")
        return env

    return World(name, made, {"named": False, "made_by": name})


def _kept(spec: EnvSpec) -> Record | None:
    """A spec as JSON; None if it has what only this process knows."""
    spec = copy.copy(spec)
    entry = spec.entry_point
    spec.entry_point = entry if isinstance(entry, str) else location(entry)
    spec.vector_entry_point = None
    spec.kwargs = {k: v for k, v in spec.kwargs.items() if k != "render_mode"}
    if spec.entry_point is None or spec.entry_point.startswith("__main__:"):
        return None
    try:
        return json.loads(spec.to_json())
    except (TypeError, ValueError):
        return None


def _recalled(name: str, record: Record) -> EnvSpec:
    if record.get("spec") is None:
        maker = record.get("made_by", name)
        raise SfmError(
            f"the environment '{maker}' was made in Python, by what only that program knows: go on there, as "
            "in sfm.resume(folder, env=...), or register it with Gymnasium in a module of its own"
        )
    try:
        spec = EnvSpec.from_json(json.dumps(record["spec"]))
        class_of(spec.entry_point, gymnasium.Env)
        for wrapper in spec.additional_wrappers:
            class_of(wrapper.entry_point, gymnasium.Wrapper)
        return spec
    except SfmError as error:
        raise SfmError(f"the environment '{name}' cannot be made again: {error}") from error
    except Exception as error:
        raise SfmError(f"the environment '{name}' cannot be made again: {one_line(error)}") from error
