"""From a recorded motion to a demonstration: positions by joint name, played through a model's kinematics."""

from sfm.demos.motion.clip import Clip
from sfm.demos.motion.convert import Motion, from_motion, propose
from sfm.demos.motion.readers import read

__all__ = ["Clip", "Motion", "from_motion", "propose", "read"]
