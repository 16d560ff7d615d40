"""The map between actions, which lie in [-1, 1] everywhere here, and what actuators take."""

from typing import Any

import numpy as np


class ActionScale:
    """Linear, -1 at `low` and 1 at `high`, [a] or one number each; computes in `dtype`."""

    def __init__(self, low: Any, high: Any, dtype: Any = np.float64):
        low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        parts = low, high, (high + low) / 2, (high - low) / 2
        self.low, self.high, self.centre, self.reach = (x.astype(dtype) for x in parts)

    def to_actuators(self, action: np.ndarray) -> np.ndarray:
        """action [..., a] as the actuators take it; what lies outside [-1, 1] is clipped."""
        return np.minimum(np.maximum(self.centre + self.reach * action, self.low), self.high)

    def to_unit(self, control: np.ndarray) -> np.ndarray:
        """control [..., a] as an action, not clipped; 0 where an actuator knows one value alone."""
        return (control - self.centre) / np.maximum(self.reach, 1e-12)
