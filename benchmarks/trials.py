"""What makes `fast` fast: the preset with one thing changed, on three tasks and two seeds each.

    python -m benchmarks.trials [--names width_64 one_step] [--tasks cheetah_walk]
    python -m benchmarks.trials --table [--series trials-11]    # only print what results/ holds

A trial that was stopped is resumed, one that is done is only noted. Ends with a table per task.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import records
from benchmarks.learning import go_on, open_run
from benchmarks.records import Row, grouped
from benchmarks.tables import first, grid
from sfm.config import overridden, setting
from sfm.demos import bundled
from sfm.errors import unknown
from sfm.presets import preset
from sfm.training.logs import read_rows

TASKS = {  # preset, and steps with one update each after which curves can be told apart
    "cheetah_walk": ("fast", 20_000),
    "walker_walk": ("fast", 30_000),
    "quadruped_stand": ("fast", 40_000),
}
ALWAYS = "lr_actor_final=null"  # it falls until a run ends, and trials are shorter than runs
TRIALS = {
    "preset": "",
    "one_environment": "envs=1 updates_per_step=1.0 witness_window=10000 eval_every=5000",
    "eight_environments": "envs=8 updates_per_step=0.125 witness_window=80000 eval_every=40000",
    "not_normalised": "normalise=features",
    "window_10k": "witness_window=10000",
    "average_500": "average_share=0.0",
    "rates_1e-3": "lr_actor=1e-3 lr_critic=1e-3",
    "rates_25e-5": "lr_actor=2.5e-4 lr_critic=2.5e-4",
    "targets_001": "polyak=0.01",
    "targets_003": "polyak=0.03",
    "match_from_start": "match_from=start",
    "phi_every_update": "features.interval=1",
    "phi_every_4th_update": "features.interval=4",
    "batch_256": "batch=256",
    "other_gamma": "gamma=0.99",
    "other_along": "witness_error_weight=0.0",
    "width_64": "learner.width=64",
    "width_256": "learner.width=256",
    "witness_not_averaged": "ema=0.0",
    "witness_averaged_longer": "ema=0.998",
    "psi_without_layer_norm": "layer_norm=false",
    "actor_without_layer_norm": "actor_norm=false",
    "other_action_penalty": "pretanh_penalty=0.0",
    "psi_unscaled_phi_uncentred": "scale_psi=false centre=false",
    "one_step": "n_step=1",
}


@dataclass(frozen=True)
class Options:
    """Which trials; runs live in --runs, every round of them goes to the table in --results."""

    names: list[str] = field(default_factory=list)
    """None given: all trials; with --table all that the series has."""
    tasks: list[str] = field(default_factory=lambda: list(TASKS))
    seed: int = 11
    seeds: int = 2
    table: bool = False
    """Only print the table of what is there, for these seeds."""
    steps: int | None = None
    """With one update each; None: as long as curves of a task need to differ."""
    series: str = "trials-12"
    """Names the trials of one preset; in results/HISTORY.md each has a paragraph."""
    machine: str = ""
    """Its short name in the table; by default made of its processor and number of cores."""
    runs: Path = Path("runs/trials")
    results: Path = records.RESULTS


def changes_of(name: str) -> dict[str, Any]:
    if name not in TRIALS:
        raise unknown("trial", name, TRIALS)
    return dict(map(setting, f"{ALWAYS} {TRIALS[name]}".split()))


def train(options: Options, task: str, name: str) -> None:
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    preset_name, usual = TASKS[task]
    steps = options.steps or usual
    changes = changes_of(name) | {"seed": options.seed, "seeds": options.seeds}
    share = overridden(preset(preset_name), changes).schedule.updates_per_step
    folder = options.runs / f"{task}_{name}"
    run = open_run(folder, preset_name, {"task": task, "steps": int(steps / share), **changes})
    who = records.described(run.config, folder, options.series, options.machine) | {"trial": name}
    try:
        go_on(run, folder)
    finally:
        rows = records.rows_of(read_rows(folder / "metrics.jsonl"), who, every=True)
        records.put(options.results / records.TRIALS, rows)


def found(options: Options, task: str, rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each trial of the series on a task, of these seeds."""
    seeds = range(options.seed, options.seed + options.seeds)
    ours = (row for row in rows if row["series"] == options.series and row["seed"] in seeds)
    trials = {name: mine for (where, name), mine in grouped(ours, "task", "trial").items() if where == task}
    names = options.names or sorted(trials, key=lambda name: (name != "preset", name))
    return {name: trials[name] for name in names if name in trials}


def by_seed(rows: list[Row], steps: float) -> list[list[Row]]:
    """The rows of each seed up to `steps`; a step with a fraction of an update counts as that fraction."""
    seeds = [mine for (seed,), mine in sorted(grouped(rows, "seed").items())]
    counted = ([row | {"step": row["step"] * share(mine)} for row in mine] for mine in seeds)
    return [[row for row in mine if row["step"] <= steps] for mine in counted]


def share(rows: list[Row]) -> float:
    """Updates per step, to a sixteenth, in most rounds: where policies were assessed, some had none."""
    begun = np.array([(row["step"], row["updates"]) for row in rows if row.get("updates")])
    steps, updates = np.diff(begun, axis=0).T if len(begun) > 1 else (np.ones(1), np.ones(1))
    return float(np.round(16 * np.median(updates / steps)) / 16)


def table(options: Options, task: str, rows: list[Row]) -> str:
    """A row per trial; where there are several values, one for each seed.

    Training returns before each mark and on average; thousands of steps, by updates, to half of the expert's
    return in training and to 80% of it kept; seconds of the whole trial.
    """
    trials, steps, expert = found(options, task, rows), options.steps or TASKS[task][1], expert_of(task)
    marks = range(10_000, steps + 1, 10_000)
    header = [task, *(f"{mark // 1000}k" for mark in marks), "mean", "half", "80% kept", "all"]
    lines = []
    for name, mine in trials.items():
        if seeds := by_seed(mine, steps):
            cells = [f"`{name}`"]
            cells += [_each(training_return(rows, mark - 10_000, mark) for rows in seeds) for mark in marks]
            cells += [_each([mean_return(seeds, steps)])]
            cells += [_each(learned(rows, 0.5 * expert) / 1000 for rows in seeds)]
            cells += [_each(kept(rows, 0.8 * expert) / 1000 for rows in seeds)]
            lines.append([*cells, f"{seeds[0][-1]['seconds']:.0f} s"])
    return grid(header, lines)


def expert_of(task: str) -> float:
    """The return of the demonstration that trials imitate."""
    return float(bundled.provenance(task)["returns"][0])


def mean_return(seeds: list[list[Row]], steps: float) -> float:
    """Of training episodes, over all seeds; NaN if a trial was stopped before."""
    whole = seeds[0][-1]["step"] >= steps
    return float(np.mean([training_return(rows, 0, steps) for rows in seeds])) if whole else np.nan


def training_return(rows: list[Row], after: float, until: float) -> float:
    """Mean of a seed's training episodes, which explore, after one step and up to another."""
    returns = [row["training"] for row in rows if after < row["step"] <= until and "training" in row]
    return float(np.mean(returns)) if returns else np.nan


def learned(rows: list[Row], target: float, episodes: int = 5) -> float:
    """Steps until this many training episodes in a row had this mean return; NaN if they never had."""
    rows = [row for row in rows if "training" in row]
    means = np.convolve([row["training"] for row in rows], np.ones(episodes) / episodes, mode="valid")
    there = np.flatnonzero(means >= target)
    return float(rows[there[0] + episodes - 1]["step"]) if len(there) else np.nan


def kept(rows: list[Row], target: float) -> float:
    """Steps until an evaluation of the kept policy had this return; NaN if none had."""
    there = first(rows, target)
    return there["step"] if there else np.nan


def _each(values: Iterable[float]) -> str:
    return ", ".join("-" if np.isnan(value) else f"{value:.0f}" for value in values)


if __name__ == "__main__":
    import tyro

    given = tyro.cli(Options, args=sys.argv[1:])
    if not given.table:
        for name in given.names or TRIALS:
            for task in given.tasks:
                train(given, task, name)
    known = records.read(given.results / records.TRIALS)
    print(*(table(given, task, known) for task in given.tasks), sep="\n\n")
