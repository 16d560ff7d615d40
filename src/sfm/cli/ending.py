"""What commands print when a run has ended or is evaluated."""

import math
from pathlib import Path

import numpy as np

from sfm import api
from sfm.evaluation.scores import normalised
from sfm.run import reopen

EPISODES = 20  # at least, at the end of a run: those of an evaluation along the way tell too little


def ended(result: api.Result, video: bool) -> int:
    """The exit status after training."""
    if not result.finished:
        print(f"stopped and saved; go on with: sfm resume {result.folder}")
        return 130
    report(result.folder, max(EPISODES, result.config.schedule.eval_episodes), video)
    return 0


def report(folder: Path, episodes: int, video: bool, seed: int | None = None) -> None:
    judged = api.finish(folder, episodes=episodes, video=video, seed=seed, note=print)
    expert, task = api.expert_return(folder), reopen(folder).config.task
    for number, (mine, likeness) in judged.items():
        close = f", {mine.mean() / expert:.0%} of the expert's {expert:.1f}" if expert else ""
        scores = normalised(task, mine)
        close += "" if scores is None else f", score {scores.mean():.2f} (0: random, 1: our expert)"
        if math.isfinite(likeness):
            close += f", likeness {likeness:.2f} (0: random, 1: the demonstrations again)"
        print(f"seed {number}: return {summary(mine)}{close}")


def summary(returns: np.ndarray) -> str:
    return f"{returns.mean():.1f} +- {returns.std():.1f} over {len(returns)} episodes"
