"""Imitation from states alone, by Successor Feature Matching.

import sfm
result = sfm.train("walker_walk", "my_demo.npz", steps=50_000)
action, _ = result.policy.predict(observation)
"""

from typing import TYPE_CHECKING, Any

from sfm.envs.registration import register
from sfm.errors import SfmError

if TYPE_CHECKING:
    from sfm.api import Result, fork, resume, train
    from sfm.demos import Demos
    from sfm.demos import load as load_demos
    from sfm.demos.motion import from_motion as demos_from_motion
    from sfm.demos.record import Record as record
    from sfm.envs import make as make_env
    from sfm.evaluation.evaluate import evaluate_policy as evaluate
    from sfm.policy import Policy, load_policy

    __version__: str

__all__ = ["Demos", "Policy", "Result", "SfmError", "__version__", "demos_from_motion", "evaluate", "fork"]
__all__ += ["load_demos", "load_policy", "make_env", "record", "resume", "train"]

_WHERE = {
    "Demos": "sfm.demos:Demos",
    "Policy": "sfm.policy:Policy",
    "Result": "sfm.api:Result",
    "demos_from_motion": "sfm.demos.motion:from_motion",
    "evaluate": "sfm.evaluation.evaluate:evaluate_policy",
    "fork": "sfm.api:fork",
    "load_demos": "sfm.demos:load",
    "load_policy": "sfm.policy:load_policy",
    "make_env": "sfm.envs:make",
    "record": "sfm.demos.record:Record",
    "resume": "sfm.api:resume",
    "train": "sfm.api:train",
}

register()  # so that gymnasium.make("sfm/walker_walk-v0") works after `import sfm`


def __getattr__(name: str) -> Any:
    """Names are imported when first used, so that `import sfm` and `sfm --help` are fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("successor-feature-matching")
    if name not in _WHERE:
        raise AttributeError(f"module 'sfm' has no attribute '{name}'")
    from pkgutil import resolve_name

    return resolve_name(_WHERE[name])


def __dir__() -> list[str]:
    """With the names that are not imported yet."""
    return sorted({*globals(), *__all__})
