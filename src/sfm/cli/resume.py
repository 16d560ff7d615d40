"""`sfm resume`: go on with a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import parse


@dataclass(frozen=True)
class Resume:
    """Go on with a run that was stopped or killed, as if it had not been."""

    run: Positional[Path]
    """The run folder."""
    steps: int | None = None
    """Train up to this many steps instead of what the run was made for."""
    video: bool = True
    """Record a video at the end."""
    tensorboard: bool = False
    """Log to TensorBoard too from now on; a run that did so before goes on."""
    wandb: bool = False
    """Log to Weights & Biases too from now on; a run that did so before goes on."""


def main(args: Sequence[str]) -> int:
    given = parse(Resume, "resume", args)
    from sfm import api
    from sfm.cli.report import ended
    from sfm.progress import Progress

    result = api.resume(
        given.run,
        steps=given.steps,
        reporter=Progress(),
        tensorboard=given.tensorboard,
        wandb=given.wandb,
    )
    return ended(result, given.video)
