"""`sfm resume`: go on with a run."""

from pathlib import Path

from tyro.conf import Positional

from sfm.cli.numbers import Steps
from sfm.cli.parse import command


@command
def main(
    run: Positional[Path],
    steps: Steps | None = None,
    video: bool = True,
    tensorboard: bool = False,
    wandb: bool = False,
) -> int:
    """Go on with a run that was stopped or killed, as if it had not been.

    Args:
        run: The run folder.
        steps: Train up to this many steps instead of what the run was made for.
        video: Record a video at the end.
        tensorboard: Log to TensorBoard too from now on; a run that did so before goes on.
        wandb: Log to Weights & Biases too from now on; a run that did so before goes on.
    """
    from sfm import api
    from sfm.cli.ending import ended
    from sfm.progress import Progress

    result = api.resume(run, steps=steps, reporter=Progress(), tensorboard=tensorboard, wandb=wandb)
    return ended(result, video)
