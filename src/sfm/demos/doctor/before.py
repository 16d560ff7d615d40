"""The doctor's short visit before training: a few demonstrations, a few seconds, a few lines."""

from collections.abc import Callable

import numpy as np

from sfm.config import Config
from sfm.demos.doctor import judge
from sfm.demos.doctor.reference import observe
from sfm.demos.types import Demos
from sfm.envs import Env
from sfm.errors import SfmError

_DEMOS, _SECONDS, _LINES = 20, 10.0, 3


def before_training(demos: Demos, env: Env, config: Config, note: Callable[[str], None], force: bool) -> None:
    """Tells what is doubtful in three lines at most; what is plainly wrong is refused, unless forced."""
    arrays = {name: part[:_DEMOS] for name, part in demos._asdict().items() if isinstance(part, np.ndarray)}
    few = demos._replace(**arrays)
    with np.errstate(all="ignore"):
        found = judge(few, observe(env, _SECONDS), config)
    found.sort(key=lambda finding: finding.severity)  # errors first
    lines = [f"{finding.severity}: {finding.what}" for finding in found]
    if found and found[0].severity == "error" and not force:
        more = f" (and {len(found) - 1} more: see 'sfm demos doctor')" if len(found) > 1 else ""
        raise SfmError(
            f"the demonstrations do not fit '{env.name}': {found[0].what}{more}. {found[0].advice} "
            "To train all the same: --force"
        )
    if len(lines) > _LINES:
        lines[_LINES - 1 :] = [f"and {len(lines) - _LINES + 1} more: see 'sfm demos doctor'"]
    for line in lines:
        note(line)
