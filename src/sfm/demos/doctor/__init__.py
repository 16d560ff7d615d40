"""What is wrong with demonstrations for an environment, in words, and what to do about it."""

from collections.abc import Callable
from pathlib import Path

from sfm.config import Config
from sfm.demos.doctor import checks, motion
from sfm.demos.doctor.findings import Finding, error, warning
from sfm.demos.doctor.reference import Reference, observe, reference
from sfm.demos.load import load
from sfm.demos.types import Demos
from sfm.envs import Env
from sfm.errors import SfmError
from sfm.presets import DEFAULT, preset

__all__ = ["Finding", "examine", "examine_file", "judge"]


def examine_file(
    path: str | Path, task: str | Callable[[Demos | None], Env], config: Config | None = None
) -> list[Finding]:
    """As `examine`, for a file; one that cannot be read is a finding.

    task: a name, or what makes the environment of demonstrations that may lie in the file.
    """

    def seen(demos: Demos | None) -> Reference:
        return reference(task) if isinstance(task, str) else observe(task(demos))

    try:
        demos = load(path)
    except SfmError as problem:
        seen(None)  # an unknown task is the caller's mistake, not the file's
        not_finite = "is NaN" in str(problem) or "is infinite" in str(problem)
        advice = checks.REMOVE_NAN if not_finite else "Nothing else can be checked before."
        return [error(str(problem), advice)]
    return judge(demos, seen(demos), config or preset(DEFAULT))


def examine(demos: Demos, task: str, config: Config | None = None) -> list[Finding]:
    """Compares demonstrations with what the environment called `task` produces; [] if all is well.

    config is what will be trained, by default the default preset: it decides whether a demonstration is too
    short, and whether its end matters.
    """
    return judge(demos, reference(task), config or preset(DEFAULT))


def judge(demos: Demos, env: Reference, config: Config) -> list[Finding]:
    """Compares demonstrations with what was seen of an environment."""
    if demos.names is not None:
        part = f"states have a part of the dimensions alone: {', '.join(demos.names)}"
        return [warning(part, "Training takes a part; nothing else is examined of it.")]
    for check in checks.DECISIVE:
        if found := list(check(demos, env)):
            return found
    found = [finding for check in checks.FURTHER for finding in check(demos, env)]
    found += [*checks.terminations(demos, env, config), *motion.examine(demos, env)]
    return [*found, *checks.too_short(demos, env, config)]
