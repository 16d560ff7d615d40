"""`sfm fork`: go on with a copy of a run, with other settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import parse
from sfm.config import setting


@dataclass(frozen=True)
class Fork:
    """Go on with a copy of a run, with other settings: `sfm fork RUN NEW n_step=1 steps=200000`.

    What is learned, replay and log are taken over, so networks and replay must keep their sizes.
    """

    run: Positional[Path]
    """The run folder to copy from."""
    new: Positional[Path]
    """The folder of the new run."""
    settings: Positional[tuple[str, ...]]
    """name=value, by a name that only one setting has or by its whole path: learner.lr_actor=1e-4."""
    video: bool = True
    """Record a video at the end."""


def main(args: Sequence[str]) -> int:
    given = parse(Fork, "fork", args)
    from sfm import api
    from sfm.cli.report import ended
    from sfm.progress import Progress

    changes = dict(map(setting, given.settings))
    return ended(api.fork(given.run, given.new, changes, reporter=Progress()), given.video)
