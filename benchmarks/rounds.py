"""What it costs to collect from several environments while the learner learns."""

import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Row, Settings, timed

__all__ = ["rounds"]

ROWS = ("walker_walk", "fast"), ("cheetah_walk", "fast"), ("quadruped_stand", "fast")
COUNTS = (1, 4, 8)


def rounds(settings: Settings) -> Iterator[Row]:
    """Seconds of a training round of 1,000 updates with 4 and 8 environments, over one with 1 environment."""
    for task, preset in ROWS[: 1 if settings.quick else None]:
        command = [sys.executable, "-m", "benchmarks.rounds", task, preset, str(settings.seconds)]
        one, four, eight = json.loads(subprocess.check_output(command, text=True))
        yield task, {"one_s": one, "four_s": four, "four_over_one": four / one, "eight_over_one": eight / one}


def measure(task: str, preset_name: str, seconds: float) -> list[float]:
    """Seconds of a round for each of `COUNTS`, without evaluations."""
    from sfm import api
    from sfm.envs import make
    from sfm.presets import preset
    from sfm.training.jax_setup import choose_threads
    from sfm.training.loop import Training

    choose_threads(preset(preset_name))
    begun = []
    for envs in COUNTS:
        changes = {"envs": envs, "updates_per_step": 1 / envs, "steps": 10**9, "eval_every": 10**9}
        config = api.overridden(preset(preset_name), {"task": task, **changes})
        training = Training(config, lambda: make(task), api.find_demos(None, config)[0]).rounds()
        while next(training)[0]["updates"] == 0:  # collects at random
            pass
        begun.append(training)
    return timed(*(training.__next__ for training in begun), seconds=seconds)


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:3], seconds=float(sys.argv[3]))))
