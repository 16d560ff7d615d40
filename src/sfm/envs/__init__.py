"""The world: environments by name, behind one small contract."""

from sfm.envs.base import Env
from sfm.envs.catalog import TASKS, is_robot, make

__all__ = ["TASKS", "Env", "is_robot", "make"]
