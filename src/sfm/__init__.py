"""Imitation from states alone, by Successor Feature Matching.

import sfm
result = sfm.train("walker_walk", "my_demo.npz", steps=50_000)
action, _ = result.policy.predict(observation)
"""

from typing import TYPE_CHECKING, Any

from sfm.envs.registration import register

if TYPE_CHECKING:
    from sfm.api import Result, fork, resume, train
    from sfm.demos import Demos
    from sfm.demos import load as load_demos
    from sfm.demos.record import Record as record
    from sfm.envs import make as make_env
    from sfm.policy import Policy, load_policy

__all__ = [
    "Demos",
    "Policy",
    "Result",
    "fork",
    "load_demos",
    "load_policy",
    "make_env",
    "record",
    "resume",
    "train",
]

_WHERE = {
    "Demos": ("sfm.demos", "Demos"),
    "Policy": ("sfm.policy", "Policy"),
    "Result": ("sfm.api", "Result"),
    "fork": ("sfm.api", "fork"),
    "load_demos": ("sfm.demos", "load"),
    "load_policy": ("sfm.policy", "load_policy"),
    "make_env": ("sfm.envs", "make"),
    "record": ("sfm.demos.record", "Record"),
    "resume": ("sfm.api", "resume"),
    "train": ("sfm.api", "train"),
}

register()  # so that gymnasium.make("sfm/walker_walk-v0") works after `import sfm`


def __getattr__(name: str) -> Any:
    """Names are imported when first used, so that `import sfm` and `sfm --help` are fast."""
    if name not in _WHERE:
        raise AttributeError(f"module 'sfm' has no attribute '{name}'")
    from importlib import import_module

    module, attribute = _WHERE[name]
    return getattr(import_module(module), attribute)
