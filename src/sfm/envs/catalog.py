"""Which environments exist, and who builds them."""

from sfm.envs.base import Env
from sfm.envs.probes import PROBES, Probe
from sfm.errors import unknown

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


def make(name: str) -> Env:
    """The environment called `name`: a task of the suite or ours, a probe, or a Gymnasium id."""
    if name in PROBES:
        return Probe(name)
    # Simulators are imported here, where one is needed: `import sfm.envs` stays fast.
    from sfm.envs.dmc import suite

    suite_tasks = suite.tasks()
    if name in suite_tasks:
        return suite.DmcEnv(name, *suite_tasks[name])

    import gymnasium

    if name in gymnasium.registry:
        from sfm.envs.gymnasium_env import GymnasiumEnv

        return GymnasiumEnv(name)
    others = "any other task of dm_control", "any Gymnasium id"
    raise unknown("task", name, {*suite_tasks, *PROBES, *gymnasium.registry}, (*TASKS, *others))
