"""Which environments exist, and who builds them."""

from collections.abc import Mapping
from typing import Any

from sfm.config.robot import RobotConfig
from sfm.envs.base import Env, Motion
from sfm.envs.probes import PROBES, Probe
from sfm.errors import SfmError, unknown

TASKS = (
    "cheetah_run",
    "cheetah_walk",
    "walker_stand",
    "walker_walk",
    "walker_run",
    "walker_flip",
    "quadruped_stand",
    "quadruped_walk",
    "quadruped_run",
    "quadruped_jump",
)

MJCF = (".xml", ".mjcf", ".zip")  # how the files of robots end


def is_robot(name: str) -> bool:
    """Whether `make` would read an MJCF file."""
    return name.endswith(MJCF)


def make(
    name: str,
    kwargs: Mapping[str, Any] | None = None,
    *,
    robot: RobotConfig | None = None,
    motion: Motion | None = None,
) -> Env:
    """The environment called `name`: a task of the suite or ours, a probe, a Gymnasium id, or an MJCF file.

    `module:Id-v0` imports the module first, as Gymnasium does, and `module:Class` needs no registration. Only
    Gymnasium's environments take `kwargs`.
    robot: how an MJCF file becomes an environment.
    motion: demonstrated states, in which its episodes start.
    """
    # Simulators are imported here, where one is needed: `import sfm.envs` stays fast.
    named = name in PROBES or is_robot(name)
    suite_tasks: dict[str, tuple[str, str]] = {}
    if not named:
        from sfm.envs.dmc import suite

        suite_tasks = suite.tasks()
    if kwargs and (named or name in suite_tasks):
        raise SfmError(f"'{name}' takes no env-kwargs: only Gymnasium's environments do.")
    if name in PROBES:
        return Probe(name)
    if is_robot(name):
        from sfm.envs.mjcf import MjcfEnv

        return MjcfEnv(name, robot, motion)
    if name in suite_tasks:
        return suite.DmcEnv(name, *suite_tasks[name])
    return _of_gymnasium(name, dict(kwargs or {}), {*suite_tasks, *PROBES})


def _of_gymnasium(name: str, kwargs: dict[str, Any], others: set[str]) -> Env:
    import gymnasium

    from sfm.envs.gymnasium_env import GymnasiumEnv, build, spec_of, with_kwargs
    from sfm.envs.importing import class_of, imported, offered

    module, colon, known = name.rpartition(":")
    found = imported(module) if colon else None
    if known in gymnasium.registry:
        return GymnasiumEnv(build(with_kwargs(gymnasium.registry[known], kwargs)), name)
    if found is not None:
        if isinstance(getattr(found, known, None), type):
            return GymnasiumEnv(build(spec_of(class_of(name, gymnasium.Env), kwargs)), name)
        raise unknown(f"environment of the module '{module}',", known, offered(found))
    more = "any other task of dm_control", "any Gymnasium id", "module:Id-v0 for one of your own"
    raise unknown("task", name, {*others, *gymnasium.registry}, (*TASKS, *more, "a robot's .xml"))
