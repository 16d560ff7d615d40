"""Does it learn? Trains presets on tasks; what their policies had goes to results/runs.csv and finals.csv.

    python -m benchmarks.learning --series mine --tasks walker_stand walker_walk [--demos FOLDER]
    python -m benchmarks.learning --series mine --tasks cheetah_walk --presets sfm-td3-cpu bc --seeds 2

One demonstration per run: FOLDER/<task>/1.npz, or else the first bundled one. A run that exists already is
resumed or, if it is done, only evaluated; so the command can be repeated after a stop. It ends with the
curves in numbers, by steps and at equal updates, with when half and four fifths of the expert's return were
reached, and with a table of what the kept policies have at the end, methods by tasks.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import records
from benchmarks.records import Row
from benchmarks.tables import by_updates, curves, reached, summary
from sfm import api
from sfm.config import overridden, setting
from sfm.errors import SfmError
from sfm.evaluation.scores import reference
from sfm.presets import preset as make_preset
from sfm.progress import Progress
from sfm.run import Run, create, reopen
from sfm.training.logs import read_rows


@dataclass(frozen=True)
class Options:
    """What to train; runs live in --runs, what they had goes to the tables in --results."""

    series: str
    """Names what belongs together in the tables: fast-6."""
    tasks: list[str] = field(default_factory=lambda: ["walker_stand", "walker_walk"])
    presets: list[str] = field(default_factory=lambda: ["sfm-td3-cpu", "sfm-td7-cpu"])
    seed: int = 1
    seeds: int = 1
    """Seeds --seed and upwards, trained together."""
    steps: int | None = 100_000
    """None: as many as the preset says."""
    episodes: int = 20
    """Of each kept policy, at the end."""
    change: list[str] = field(default_factory=list)
    """Options of every preset, named as for `sfm.train`: batch=64 match_from=start."""
    demos: Path | None = None
    machine: str = ""
    """Its short name in the tables; by default made of its processor and number of cores."""
    runs: Path = Path("runs/learning")
    results: Path = records.RESULTS


def open_run(folder: Path, name: str, changes: dict[str, Any], demos: Path | None = None) -> Run:
    """The run in `folder`, or a new one of a preset with options changed, from one demonstration."""
    config = overridden(make_preset(name), changes)
    if (folder / "config.json").exists():
        run = reopen(folder)
        if run.config != config:
            raise SfmError(f"{folder} was begun with other settings: move it away, or give other --runs")
        return run
    found, provenance = api.find_demos(demos and demos / config.task / "1.npz", config)
    run = create(folder, config, found, provenance=provenance)
    records.noted(folder)
    return run


def go_on(run: Run, folder: Path) -> None:
    """Train to the end, or stop when told to."""
    if not run.train(Progress()):
        raise SfmError(f"stopped; repeat the command to go on with {folder}")


def train(options: Options, task: str, name: str) -> tuple[list[Row], list[Row]]:
    """A run's rows of both tables, where they are from now on; of one that was stopped those so far."""
    label = f"{task}_{name}_seed{options.seed}" + (f"x{options.seeds}" if options.seeds > 1 else "")
    folder = options.runs / label
    changes = {"task": task, "seed": options.seed, "seeds": options.seeds}
    changes |= {"steps": options.steps} if options.steps else {}
    changes |= dict(map(setting, options.change))
    run = open_run(folder, name, changes, options.demos)
    who = records.described(run.config, folder, options.series, options.machine)
    try:
        go_on(run, folder)
    finally:
        rows = records.rows_of(read_rows(folder / "metrics.jsonl"), who)
        records.put(options.results / records.RUNS, rows)
    judged = api.finish(folder, episodes=options.episodes, video=False, note=print)
    expert = api.expert_return(folder) or (scale.expert if (scale := reference(task)) else None)
    more = {"step": rows[-1]["step"], "command": command(options, task, name)}
    more |= {"expert": expert} if expert else {}
    finals = [records.final(who, seed, *of, **more) for seed, of in judged.items()]
    records.put(options.results / records.FINALS, finals)
    return rows, finals


def command(options: Options, task: str, name: str) -> str:
    """What trains this run again."""
    words = ["python -m benchmarks.learning --series", options.series, "--tasks", task, "--presets", name]
    words += ["--seed", options.seed, "--seeds", options.seeds, "--steps", options.steps]
    words += ["--change", *options.change] if options.change else []
    return " ".join(map(str, words + (["--demos FOLDER"] if options.demos else [])))


if __name__ == "__main__":
    import tyro

    given = tyro.cli(Options, args=sys.argv[1:])
    done = [train(given, task, name) for name in given.presets for task in given.tasks]
    trained, judged = ([row for pair in done for row in pair[k]] for k in (0, 1))
    tables = curves(trained), by_updates(trained), reached(trained, judged), summary(judged)
    print(*tables, sep="\n\n")
