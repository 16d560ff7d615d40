"""The environments of a run: made by name, or from the robot's MJCF file, of which a run keeps a copy."""

from collections.abc import Callable
from pathlib import Path

from sfm import storage
from sfm.config import Config, RobotConfig
from sfm.demos import Demos
from sfm.envs import Env, is_robot, make
from sfm.errors import SfmError

ROBOT = "robot.zip"


def maker(config: Config, demos: Demos | None, folder: Path | None = None) -> Callable[[], Env]:
    """How the environments of a run are made; a robot's from the file in the run's folder, if it is there."""
    if is_robot(config.task):
        kept = folder and folder / ROBOT
        name = str(kept) if kept and kept.exists() else config.task
        return lambda: make(name, config.robot, demos.motion() if demos else None)
    if config.robot != RobotConfig():
        raise SfmError(f"settings of the robot are for MJCF files (robot.xml), and '{config.task}' is a task")
    return lambda: make(config.task)


def keep(config: Config, folder: Path) -> None:
    """Write into a run's folder what its environments are made from, so that it needs no other file."""
    if is_robot(config.task):
        from sfm.envs.mjcf import pack

        storage.write_bytes(folder / ROBOT, pack(config.task))
