"""The world: environments by name, behind one small contract."""

from sfm.envs.base import Env
from sfm.envs.catalog import TASKS, make

__all__ = ["TASKS", "Env", "make"]
