"""Demonstrations: the data that an agent imitates."""

from sfm.demos.load import load
from sfm.demos.save import save
from sfm.demos.types import Demos

__all__ = ["Demos", "load", "save"]
