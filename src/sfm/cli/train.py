"""`sfm train`: learn to behave like demonstrations."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import AvoidSubcommands, Positional

from sfm.cli.parse import TASK, parse, value_of
from sfm.config import Config, overridden
from sfm.config.sentences import sentences
from sfm.presets import DEFAULT, preset


def main(args: Sequence[str]) -> int:
    base = preset(value_of("--preset", args) or DEFAULT)

    @dataclass(frozen=True)
    class Train:
        """Learn to behave like demonstrations, from their states alone or, where the preset says so, actions.

        Writes a run folder with the log, resumable checkpoints, policies, a curve and a video.
        """

        settings: Annotated[Any, tyro.conf.arg(name="", constructor=_settings(base))]
        task: Positional[str] = TASK
        """A bundled task (see `sfm tasks`), a dm_control task, or a Gymnasium id."""
        demos: Path | None = None
        """Demonstrations; default: the one bundled for the task."""
        demo: int | None = None
        """Use only this one of several demonstrations, counted from 0; default: all of --demos."""
        run: Path | None = None
        """The run folder; default: a new one under runs/."""
        steps: int | None = None
        """Short for --schedule.steps."""
        video: bool = True
        """Record a video at the end."""
        tensorboard: bool = False
        """Log to TensorBoard too."""
        wandb: bool = False
        """Log to Weights & Biases too."""

    given = parse(Train, "train", args, config=(AvoidSubcommands,))
    config = dataclasses.replace(base, task=given.task, **vars(given.settings))
    if given.steps is not None:
        config = overridden(config, {"schedule.steps": given.steps})
    from sfm import api
    from sfm.cli.report import ended
    from sfm.progress import Progress

    result = api.train(
        demos=given.demos,
        config=config,
        demo=given.demo,
        folder=given.run,
        reporter=Progress(),
        tensorboard=given.tensorboard,
        wandb=given.wandb,
    )
    return ended(result, given.video)


def _settings(base: Config) -> type:
    """The fields of `Config` but for the task, as options that start from `base`, with their sentences."""
    told = sentences(Config)
    fields = [
        (f.name, Annotated[f.type, tyro.conf.arg(help=told[f.name])], field(default=getattr(base, f.name)))
        for f in dataclasses.fields(Config)
        if f.name != "task"
    ]
    return dataclasses.make_dataclass("Settings", fields, frozen=True)
