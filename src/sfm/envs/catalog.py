"""Which environments exist, and who builds them."""

from sfm.config.robot import RobotConfig
from sfm.envs.base import Env, Motion
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

MJCF = (".xml", ".mjcf", ".zip")  # how the files of robots end


def is_robot(name: str) -> bool:
    """Whether `make` would read an MJCF file."""
    return name.endswith(MJCF)


def make(name: str, robot: RobotConfig | None = None, motion: Motion | None = None) -> Env:
    """The environment called `name`: a task of the suite or ours, a probe, a Gymnasium id, or an MJCF file.

    robot: how an MJCF file becomes an environment. motion: demonstrated states, in which its episodes start.
    """
    if name in PROBES:
        return Probe(name)
    if is_robot(name):
        from sfm.envs.mjcf import MjcfEnv

        return MjcfEnv(name, robot, motion)
    # Simulators are imported here, where one is needed: `import sfm.envs` stays fast.
    from sfm.envs.dmc import suite

    suite_tasks = suite.tasks()
    if name in suite_tasks:
        return suite.DmcEnv(name, *suite_tasks[name])

    import gymnasium

    if name in gymnasium.registry:
        from sfm.envs.gymnasium_env import GymnasiumEnv

        return GymnasiumEnv(name)
    others = "any other task of dm_control", "any Gymnasium id", "a robot's .xml"
    raise unknown("task", name, {*suite_tasks, *PROBES, *gymnasium.registry}, (*TASKS, *others))
