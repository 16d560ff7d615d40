"""`sfm fork`: go on with a copy of a run, with other settings."""

from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import command
from sfm.config import setting


@command
def main(
    run: Positional[Path], new: Positional[Path], settings: Positional[tuple[str, ...]], video: bool = True
) -> int:
    """Go on with a copy of a run, with other settings: `sfm fork RUN NEW n_step=1 steps=500000`.

    What is learned, replay and log are taken over, so networks and replay must keep their sizes.

    Args:
        run: The run folder to copy from.
        new: The folder of the new run.
        settings: name=value, by a name that only one setting has or by its whole path: learner.lr_actor=1e-4.
        video: Record a video at the end.
    """
    from sfm import api
    from sfm.cli.ending import ended
    from sfm.progress import Progress

    return ended(api.fork(run, new, dict(map(setting, settings)), reporter=Progress()), video)
