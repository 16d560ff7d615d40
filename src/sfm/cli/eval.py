"""`sfm eval`: evaluate a trained policy, or random actions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import parse
from sfm.errors import SfmError


@dataclass(frozen=True)
class Eval:
    """Evaluate the checkpoint policy of a run, draw its learning curve, record an mp4 and a gif."""

    run: Positional[Path]
    """The run folder; with --random, a task."""
    episodes: int = 10
    """Play this many episodes with each policy."""
    seed: int | None = None
    """Which seed's policy, in a run of several; default: all."""
    video: bool = True
    """Record a video."""
    random: bool = False
    """Evaluate uniform random actions on a task, to compare with."""


def main(args: Sequence[str]) -> int:
    given = parse(Eval, "eval", args)
    if given.episodes < 1:
        raise SfmError("--episodes must be at least 1")
    if (given.seed or 0) < 0:
        raise SfmError("--seed must not be negative")
    from sfm import api
    from sfm.cli.report import report, summary

    if given.random:
        returns = api.random_returns(str(given.run), given.episodes, given.seed or 0)
        print(f"random actions: return {summary(returns)}")
        return 0
    return report(given.run, given.episodes, given.video, given.seed)
