"""Demonstrations: the data that an agent imitates."""

from sfm.demos.npz import load
from sfm.demos.types import Demos

__all__ = ["Demos", "load"]
