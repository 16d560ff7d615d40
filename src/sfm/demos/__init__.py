"""Demonstrations: the data that an agent imitates."""

from sfm.demos.convert import save
from sfm.demos.formats import load
from sfm.demos.types import Demos

__all__ = ["Demos", "load", "save"]
