"""What an environment is made with, as options of every command that takes one by name."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from sfm.config import Config, overridden

if TYPE_CHECKING:
    from sfm.demos import Demos
    from sfm.envs import Env


@dataclass(frozen=True)
class _Made:
    env_kwargs: str = ""
    """What a Gymnasium environment is made with, a JSON object."""
    control_hz: float | None = None
    """Steps per second in a robot's .xml: short for --robot.control-hz of `sfm train`."""
    actuators: Literal["model", "pd"] | None = None
    """Of a robot's .xml: its own, or a servo for each joint; short for --robot.actuators of `sfm train`."""

    def within(self, config: Config) -> Config:
        """The configuration, with what is given here."""
        given = {"env_kwargs": self.env_kwargs or None, "robot.control_hz": self.control_hz}
        given["robot.actuators"] = self.actuators
        return overridden(config, {name: value for name, value in given.items() if value is not None})

    def env(self, task: str, demos: "Demos | None" = None) -> "Env":
        """As a run would make it from these demonstrations."""
        from sfm.envs.worlds import world
        from sfm.robots import placed

        config = self.within(Config(task=task))
        return placed(world(task, config.env_arguments), config, demos).make()


Made = Annotated[_Made, tyro.conf.arg(name="")]
MADE = _Made()
