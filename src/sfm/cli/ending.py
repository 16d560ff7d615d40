"""What commands print when a run has ended or is evaluated."""

from pathlib import Path
from typing import Any

import numpy as np

from sfm import api

EPISODES = 20  # at least, at the end of a run: those of an evaluation along the way tell too little


def ended(result: api.Result, video: bool) -> int:
    """The exit status after training."""
    if not result.finished:
        print(f"stopped and saved; go on with: sfm resume {result.folder}")
        return 130
    episodes = max(EPISODES, result.config.schedule.eval_episodes)
    show(api.measure(result.folder, episodes=episodes, video=video, note=print).told)
    return 0


def show(measured: dict[str, Any]) -> None:
    """A line for each seed."""
    expert = measured["expert_return"]
    for of in measured["seeds"]:
        close = f", the expert has {expert:.1f}" if expert is not None else ""
        if of["of_expert"] is not None:
            close = f", {of['of_expert']:.0%} of the expert's {expert:.1f}"
        if of["score"] is not None:
            close += f", score {of['score']:.2f} (0: random, 1: the paper's expert)"
        if of["likeness"] is not None:
            close += f", likeness {of['likeness']:.2f} (0: random, 1: the demonstrations again)"
        print(f"seed {of['seed']}: {summary(of['returns'])}{close}")


def summary(returns: Any) -> str:
    returns = np.asarray(returns)
    if np.isnan(returns).all():
        return f"{len(returns)} episodes, without a reward"
    return f"return {returns.mean():.1f} +- {returns.std():.1f} over {len(returns)} episodes"


def place(out: Path | None, run: str) -> None:
    """Says where nothing was written."""
    if out is None and not Path(run).is_dir():
        print("nothing written: --out FOLDER takes eval.json and a video")
