"""`sfm train`: learn to behave like demonstrations."""

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from sfm.cli.counts import Steps
from sfm.cli.environment import MADE, Made
from sfm.cli.parse import TASK, command, value_of
from sfm.config import Config, overridden
from sfm.config.sentences import sentences
from sfm.presets import DEFAULT, preset


def main(args: Sequence[str]) -> int:
    name = value_of("--preset", args)
    base = preset(DEFAULT if name is None else name)

    @command
    def train(
        settings: Annotated[Any, tyro.conf.arg(name="", constructor=_settings(base))],
        task: Positional[str] = TASK,
        demos: Path | None = None,
        demo: int | None = None,
        run: Path | None = None,
        steps: Steps | None = None,
        made: Made = MADE,
        force: bool = False,
        video: bool = True,
        tensorboard: bool = False,
        wandb: bool = False,
    ) -> int:
        """Learn to behave like demonstrations, from their states alone or, where the preset says so, actions.

        Writes a run folder with the log, resumable checkpoints, policies, a curve and a video.

        Args:
            task: A bundled task (see `sfm tasks`), a dm_control task, a Gymnasium id, a robot's .xml, or
                module:Id-v0 for an environment that a module of your own registers (or module:Class).
            demos: Demonstrations; default: the one bundled for the task.
            demo: Use only this one of several demonstrations, counted from 0; default: all of --demos.
            run: The run folder; default: a new one under runs/.
            steps: Short for --schedule.steps.
            force: Train although the doctor finds that the demonstrations do not fit.
            video: Record a video at the end.
            tensorboard: Log to TensorBoard too.
            wandb: Log to Weights & Biases too.
        """
        config = dataclasses.replace(base, task=task, **vars(settings))
        config = made.within(overridden(config, {} if steps is None else {"schedule.steps": steps}))
        from sfm import api
        from sfm.cli.ending import ended
        from sfm.progress import Progress

        told: dict[str, Any] = {
            "force": force,
            "reporter": Progress(),
            "tensorboard": tensorboard,
            "wandb": wandb,
        }
        return ended(api.train(demos=demos, config=config, demo=demo, folder=run, **told), video)

    return train(args)


def _settings(base: Config) -> type:
    """The fields of `Config` but for the task, as options that start from `base`, with their sentences."""
    told = sentences(Config)
    fields = [
        (f.name, Annotated[f.type, tyro.conf.arg(help=told[f.name])], field(default=getattr(base, f.name)))
        for f in dataclasses.fields(Config)
        if f.name not in ("task", "env_kwargs")
    ]
    return dataclasses.make_dataclass("Settings", fields, frozen=True)
