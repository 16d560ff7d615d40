"""`sfm eval`: evaluate a trained policy, or random actions."""

from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import command
from sfm.config.run import arguments
from sfm.errors import SfmError


@command
def main(
    run: Positional[Path],
    episodes: int = 10,
    seed: int | None = None,
    video: bool = True,
    random: bool = False,
    env_kwargs: str = "",
) -> None:
    """Evaluate the checkpoint policy of a run, draw its learning curve, record an mp4 and a gif.

    Args:
        run: The run folder; with --random, a task.
        episodes: Play this many episodes with each policy.
        seed: Which seed's policy, in a run of several; default: all.
        video: Record a video.
        random: Evaluate uniform random actions on a task, to compare with.
        env_kwargs: With --random, what the task is made with, a JSON object.
    """
    if episodes < 1:
        raise SfmError("--episodes must be at least 1")
    if (seed or 0) < 0:
        raise SfmError("--seed must not be negative")
    from sfm import api
    from sfm.cli.ending import report, summary

    if random:
        returns = api.random_returns(str(run), episodes, seed or 0, arguments(env_kwargs))
        print(f"random actions: return {summary(returns)}")
    else:
        report(run, episodes, video, seed)
