"""What to learn: the cumulant and the weight of the vector critic."""

from typing import Any

from sfm.agents.objectives.base import Objective, Offline
from sfm.agents.objectives.cloning import BC, BCO
from sfm.agents.objectives.discriminator import Discriminator
from sfm.agents.objectives.iq import IQ
from sfm.agents.objectives.opolo import OPOLO
from sfm.agents.objectives.reward import Reward
from sfm.agents.objectives.sfm import SFM
from sfm.agents.types import Spec
from sfm.config import ObjectiveConfig

__all__ = [
    "BC",
    "BCO",
    "IQ",
    "OPOLO",
    "SFM",
    "Discriminator",
    "Objective",
    "Offline",
    "Reward",
    "make_objective",
]

_OBJECTIVES: dict[str, Any] = {
    "sfm": SFM,
    "reward": Reward,
    "discriminator": Discriminator,
    "opolo": OPOLO,
    "iq": IQ,
    "bc": BC,
    "bco": BCO,
}


def make_objective(config: ObjectiveConfig, spec: Spec) -> Objective:
    return _OBJECTIVES[config.kind](config, spec)
