"""The environments of a run: made by name, or from the robot's MJCF file, of which a run keeps a copy."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfm import storage
from sfm.config import Config, RobotConfig, from_dict
from sfm.demos import Demos
from sfm.envs import Env, is_robot, make
from sfm.envs.worlds import World, again
from sfm.errors import SfmError

ROBOT = "robot.zip"


def placed(world: World, config: Config, demos: Demos | None, folder: Path | None = None) -> World:
    """`world`; a robot's file as the environment that a run's settings and demonstrations make of it."""
    if is_robot(world.name):
        return World(world.name, maker(dataclasses.replace(config, task=world.name), demos, folder))
    if config.robot != RobotConfig() and not is_robot(config.task):
        raise SfmError(f"settings of the robot are for MJCF files (robot.xml), and '{config.task}' is a task")
    return world


def maker(config: Config, demos: Demos | None, folder: Path | None = None) -> Callable[[], Env]:
    """How a robot is made: from the file in the run's folder, if it is there."""
    kept = folder and folder / ROBOT
    name = str(kept) if kept and kept.exists() else config.task
    motion = demos.motion() if demos else None
    return lambda: make(name, config.env_arguments, robot=config.robot, motion=motion)


def keep(config: Config, folder: Path) -> None:
    """Write into a run's folder what its environments are made from, so that it needs no other file."""
    if is_robot(config.task):
        from sfm.envs.mjcf import pack

        storage.write_bytes(folder / ROBOT, pack(config.task))


def unmoved(world: World, config: Config) -> World:
    """`placed`, where no motion is at hand in which episodes could start, or from which to tell a fall."""
    starts = "auto" if config.robot.starts == "clip" else config.robot.starts
    robot = dataclasses.replace(config.robot, starts=starts, fall=0.0)
    return placed(world, dataclasses.replace(config, robot=robot), None)


def remembered(meta: dict[str, Any]) -> World:
    """The world of a policy, from what its file says."""
    kept = meta["config"]
    robot = from_dict(RobotConfig, kept.get("robot", {}), training=False)
    config = Config(task=meta["task"], env_kwargs=kept.get("env_kwargs", ""), robot=robot)
    return unmoved(again(config.task, config.env_arguments, meta.get("env")), config)
