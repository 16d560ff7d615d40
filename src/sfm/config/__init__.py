"""Every choice that changes a result, as frozen dataclasses. Imports nothing heavy, so `--help` is instant.

A run is described by one `Config`: how to learn (`learner`), what to learn (`objective`), and when to do
what (`schedule`). The presets in `sfm.presets` are instances of it. Each field has a sentence that says what
it does, which `--help` and docs/options.md show, and each dataclass checks its own fields.
"""

from sfm.config.learners import ActorCriticConfig, LearnerConfig, StochasticConfig, TD3Config, TD7Config
from sfm.config.objectives import (
    BCConfig,
    BCOConfig,
    DiscriminatorConfig,
    IQConfig,
    ObjectiveConfig,
    OPOLOConfig,
    RewardConfig,
    SFMConfig,
)
from sfm.config.parts import CostConfig, FeatureConfig, InverseConfig
from sfm.config.retired import understood
from sfm.config.robot import RobotConfig
from sfm.config.run import Config, Normalise
from sfm.config.schedule import ScheduleConfig
from sfm.config.serialise import flat, from_dict, overridden, setting, to_dict, whole

__all__ = ["ActorCriticConfig", "LearnerConfig", "StochasticConfig", "TD3Config", "TD7Config"]
__all__ += ["BCConfig", "BCOConfig", "DiscriminatorConfig", "IQConfig", "OPOLOConfig", "ObjectiveConfig"]
__all__ += ["CostConfig", "FeatureConfig", "InverseConfig", "RewardConfig", "SFMConfig", "ScheduleConfig"]
__all__ += [
    "Config",
    "Normalise",
    "RobotConfig",
    "flat",
    "from_dict",
    "overridden",
    "setting",
    "to_dict",
    "understood",
    "whole",
]
