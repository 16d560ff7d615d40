"""What to learn: the cumulant and the weight of the vector critic."""

from typing import Any

from sfm.agents.objectives.base import Objective
from sfm.agents.objectives.reward import Reward
from sfm.agents.objectives.sfm import SFM
from sfm.agents.types import Spec
from sfm.config import ObjectiveConfig

__all__ = ["SFM", "Objective", "Reward", "make_objective"]

_OBJECTIVES: dict[str, Any] = {"sfm": SFM, "reward": Reward}


def make_objective(config: ObjectiveConfig, spec: Spec) -> Objective:
    return _OBJECTIVES[config.kind](config, spec)
