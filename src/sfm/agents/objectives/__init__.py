"""What to learn: the cumulant and the weight of the vector critic.

Every file here is imported, and each objective in it is found by the class of its config.
"""

import functools
import importlib
import pkgutil

from sfm.agents.objectives.base import Objective, Offline
from sfm.agents.types import Spec
from sfm.config import ObjectiveConfig

__all__ = ["Objective", "Offline", "make_objective"]

for _file in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_file.name}")


@functools.lru_cache(maxsize=64)
def make_objective(config: ObjectiveConfig, spec: Spec) -> Objective:
    """One object for equal settings, so that what is compiled for it serves all."""
    return Objective.of_config[type(config)](config, spec)
