"""How to learn: TD3, TD7 and a stochastic actor, each once, for a vector critic of any dimension."""

import functools
from typing import Any

from sfm.agents.learners.base import Learner
from sfm.agents.learners.stochastic import Stochastic
from sfm.agents.learners.td3 import TD3
from sfm.agents.learners.td7 import TD7
from sfm.agents.types import Spec
from sfm.config import LearnerConfig

__all__ = ["TD3", "TD7", "Learner", "Stochastic", "make_learner"]

_LEARNERS: dict[str, Any] = {"td3": TD3, "td7": TD7, "stochastic": Stochastic}


@functools.lru_cache(maxsize=64)
def make_learner(config: LearnerConfig, spec: Spec) -> Learner:
    """One object for equal settings, so that what is compiled for it serves all."""
    return _LEARNERS[config.kind](config, spec)
