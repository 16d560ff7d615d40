"""How an MJCF file becomes an environment; nothing here matters to tasks by name."""

from dataclasses import dataclass
from typing import Literal

from sfm.config.checks import BelowOne, NotNegative, Positive, PositiveOrNone, check


@dataclass(frozen=True)
class RobotConfig:
    """How an MJCF file becomes an environment; nothing here matters to tasks by name."""

    control_hz: PositiveOrNone = None
    """The environment of an MJCF file takes this many steps per second; with none as near to 50 as the
    file's time step allows."""
    actuators: Literal["model", "pd"] = "model"
    """Actions go to the actuators of the MJCF file, or to position servos that take their place, one for each
    joint with limits, whose gains follow from the model's masses (`pd`)."""
    starts: Literal["auto", "clip", "keyframe", "model"] = "auto"
    """Episodes start in states of the demonstrations' motion (`clip`), in the first keyframe of the MJCF
    file, or as the model is built; with `auto` in the first of these that there is."""
    start_noise: NotNegative = 0.01
    """Joints start with normal noise of this standard deviation, in radians or metres, and their speeds with
    as much per second."""
    seconds: Positive = 10.0
    """Episodes in an MJCF file last this many seconds."""
    fall: BelowOne = 0.0
    """An episode ends when the robot's root sinks below this share of its least height in the demonstrations'
    motion, and with 0 never."""
    sensors: bool = False
    """The sensors of the MJCF file are observed too, which a motion does not tell."""

    def __post_init__(self) -> None:
        check(self, "robot")
