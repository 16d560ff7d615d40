"""Which environments exist, and who builds them."""

from collections.abc import Mapping
from typing import Any

from sfm.envs.base import Env
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


def make(name: str, kwargs: Mapping[str, Any] | None = None) -> Env:
    """The environment called `name`: a task of the suite or ours, a probe, or a Gymnasium id.

    `module:Id-v0` imports the module first, as Gymnasium does, and `module:Class` needs no registration. Only
    Gymnasium's environments take `kwargs`.
    """
    # Simulators are imported here, where one is needed: `import sfm.envs` stays fast.
    suite_tasks: dict[str, tuple[str, str]] = {}
    if name not in PROBES:
        from sfm.envs.dmc import suite

        suite_tasks = suite.tasks()
    if name in PROBES or name in suite_tasks:
        if kwargs:
            raise SfmError(f"'{name}' takes no env-kwargs: only Gymnasium's environments do.")
        return Probe(name) if name in PROBES else suite.DmcEnv(name, *suite_tasks[name])
    return _of_gymnasium(name, dict(kwargs or {}), {*suite_tasks, *PROBES})


def _of_gymnasium(name: str, kwargs: dict[str, Any], others: set[str]) -> Env:
    import gymnasium

    from sfm.envs.gymnasium_env import GymnasiumEnv, build, spec_of, with_kwargs
    from sfm.envs.importing import class_of, imported

    module, colon, known = name.rpartition(":")
    found = imported(module) if colon else None
    if known in gymnasium.registry:
        return GymnasiumEnv(build(with_kwargs(gymnasium.registry[known], kwargs)), name)
    if found is not None:
        if isinstance(getattr(found, known, None), type):
            return GymnasiumEnv(build(spec_of(class_of(name, gymnasium.Env), kwargs)), name)
        raise unknown(f"environment of the module '{module}',", known, gymnasium.registry)
    more = "any other task of dm_control", "any Gymnasium id", "module:Id-v0 for one of your own"
    raise unknown("task", name, {*others, *gymnasium.registry}, (*TASKS, *more))
