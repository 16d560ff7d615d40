"""`sfm eval`: evaluate a trained policy, or random actions."""

import functools
import sys
from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import command
from sfm.config.run import arguments
from sfm.errors import SfmError


@command
def main(
    run: Positional[str],
    episodes: int = 10,
    seed: int | None = None,
    video: bool = True,
    random: bool = False,
    env_kwargs: str = "",
    json: bool = False,
    out: Path | None = None,
) -> None:
    """Evaluate the kept policies of a run, draw its learning curve, record an mp4 and a gif.

    Args:
        run: A run folder, a policy file, or the task of a bundled expert; with --random, a task.
        episodes: Play this many episodes with each policy.
        seed: Which seed's policy, in a run of several; default: all. With --random, of the starts.
        video: Record a video, of the seed that does best.
        random: Evaluate uniform random actions on a task, to compare with.
        env_kwargs: With --random, what the task is made with, a JSON object.
        json: Print what was measured as JSON, and all else to stderr.
        out: A folder for eval.json, curve and video; default: the run's. A policy file leaves none without.
    """
    if episodes < 1:
        raise SfmError("--episodes must be at least 1")
    if (seed or 0) < 0:
        raise SfmError("--seed must not be negative")
    from sfm import api, storage
    from sfm.cli.ending import place, show, summary
    from sfm.measure import MEASURED

    if random:
        returns = api.random_returns(run, episodes, seed or 0, arguments(env_kwargs))
        measured = {"evaluated": "random actions", "task": run, "return": returns.mean(), "returns": returns}
        if out is not None:
            storage.write_json(out / MEASURED, measured)
        print(storage.to_json(measured) if json else f"random actions: {summary(returns)}")
        return
    note = functools.partial(print, file=sys.stderr if json else sys.stdout)
    measured = api.measure(run, episodes=episodes, video=video, seed=seed, out=out, note=note).told
    if json:
        print(storage.to_json(measured))
    else:
        show(measured)
        place(out, run)
