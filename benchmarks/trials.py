"""What makes `fast` fast: the preset with one thing changed, on three tasks and two seeds each.

    python -m benchmarks.trials [--names width_64 one_step] [--tasks cheetah_walk]
    python -m benchmarks.trials --table     # only print what results/tuning holds

A trial that was stopped is resumed, one that is done is only copied. Ends with a table per task.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning import by_seed, go_on, open_run
from sfm import api, storage
from sfm.demos import bundled
from sfm.errors import unknown
from sfm.presets import preset
from sfm.training.logs import Row, read_rows

TASKS = {  # preset, and steps with one update each after which curves can be told apart
    "cheetah_walk": ("fast", 20_000),
    "walker_walk": ("fast", 30_000),
    "quadruped_stand": ("fast-quadruped", 40_000),
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
    "other_gamma": {"fast": "gamma=0.99", "fast-quadruped": "gamma=0.98"},
    "other_along": {"fast": "along=0.0", "fast-quadruped": "along=1.0"},
    "width_64": "learner.width=64",
    "width_256": "learner.width=256",
    "witness_not_averaged": "ema=0.0",
    "witness_averaged_longer": "ema=0.998",
    "psi_without_layer_norm": "layer_norm=false",
    "actor_without_layer_norm": "actor_norm=false",
    "other_action_penalty": {"fast": "action_penalty=0.0", "fast-quadruped": "action_penalty=0.003"},
    "psi_unscaled_phi_uncentred": "scale_psi=false centre=false",
    "one_step": "n_step=1",
}
KEPT = ("step", "seed", "updates", "train/return", "gap", "eval/current", "eval/checkpoint", "seconds")


@dataclass(frozen=True)
class Options:
    """Which trials; runs live in --runs, config and the main columns of their logs are kept in --results."""

    names: list[str] = field(default_factory=lambda: list(TRIALS))
    tasks: list[str] = field(default_factory=lambda: list(TASKS))
    seed: int = 11
    seeds: int = 2
    table: bool = False
    """Only print the table of what is there."""
    series: str = "quick"
    """Names the folders of trials of one preset; `fast` had one environment, `four` targets at 0.03."""
    runs: Path = Path("runs/trials")
    results: Path = Path("results/tuning")


def folder_of(options: Options, task: str, name: str) -> Path:
    return options.results / f"{task}_{options.series}_{name}"


def changes_of(name: str, preset_name: str) -> dict[str, Any]:
    if name not in TRIALS:
        raise unknown("trial", name, TRIALS)
    said = TRIALS[name]
    said = said if isinstance(said, str) else said[preset_name]
    return dict(map(api.setting, f"{ALWAYS} {said}".split()))


def train(options: Options, task: str, name: str) -> None:
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    preset_name, steps = TASKS[task]
    changes = changes_of(name, preset_name) | {"seed": options.seed, "seeds": options.seeds}
    share = api.overridden(preset(preset_name), changes).schedule.updates_per_step
    run = options.runs / f"{task}_{name}"
    go_on(open_run(run, preset_name, {"task": task, "steps": int(steps / share), **changes}), run)
    store(run, folder_of(options, task, name))


def store(run: Path, folder: Path) -> None:
    """Copies what the table needs."""
    rows = [{k: row[k] for k in KEPT if k in row} for row in read_rows(run / "metrics.jsonl")]
    storage.write_bytes(
        folder / "metrics.jsonl", "".join(storage.to_json(row) + "\n" for row in rows).encode()
    )
    storage.write_json(folder / "config.json", storage.read_json(run / "config.json"))


def read(folder: Path, steps: int) -> list[list[Row]]:
    """The rows of each seed up to `steps`; a step with a fraction of an update counts as that fraction."""
    rows = read_rows(folder / "metrics.jsonl")
    if rows:
        share = storage.read_json(folder / "config.json")["schedule"]["updates_per_step"]
        rows = [row | {"step": row["step"] * share} for row in rows if row["step"] * share <= steps]
    return by_seed(rows)


def table(options: Options, task: str) -> str:
    """A row per trial; where there are several values, one for each seed.

    Training returns before each mark and on average; thousands of steps, by updates, to half of the expert's
    return in training and to 80% of it kept; seconds of the whole trial.
    """
    steps, expert = TASKS[task][1], expert_of(task)
    marks = range(10_000, steps + 1, 10_000)
    header = [task, *(f"{mark // 1000}k" for mark in marks), "mean", "half", "80% kept", "all"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for name in options.names:
        if seeds := read(folder_of(options, task, name), steps):
            cells = [f"`{name}`"]
            cells += [_each(training_return(rows, mark - 10_000, mark) for rows in seeds) for mark in marks]
            whole = seeds[0][-1]["step"] >= steps
            cells += [
                _each([float(np.mean([training_return(r, 0, steps) for r in seeds])) if whole else np.nan])
            ]
            cells += [_each(learned(rows, 0.5 * expert) / 1000 for rows in seeds)]
            cells += [_each(kept(rows, 0.8 * expert) / 1000 for rows in seeds)]
            lines.append("| " + " | ".join([*cells, f"{seeds[0][-1]['seconds']:.0f} s"]) + " |")
    return "\n".join(lines)


def expert_of(task: str) -> float:
    """The return of the demonstration that trials imitate."""
    return float(bundled.provenance(task)["returns"][0])


def training_return(rows: list[Row], after: int, until: int) -> float:
    """Mean of a seed's training episodes, which explore, after one step and up to another."""
    returns = [row["train/return"] for row in rows if after < row["step"] <= until]
    return float(np.mean(returns)) if returns else np.nan


def learned(rows: list[Row], target: float, episodes: int = 5) -> float:
    """Steps until so many training episodes in a row had this mean return; NaN if they never had."""
    returns = np.array([row["train/return"] for row in rows])
    means = np.convolve(returns, np.ones(episodes) / episodes, mode="valid")
    there = np.flatnonzero(means >= target)
    return float(rows[there[0] + episodes - 1]["step"]) if len(there) else np.nan


def kept(rows: list[Row], target: float) -> float:
    """Steps until an evaluation of the checkpoint policy had this return; NaN if none had."""
    return next((row["step"] for row in rows if row.get("eval/checkpoint", -np.inf) >= target), np.nan)


def _each(values: Iterable[float]) -> str:
    return ", ".join("-" if np.isnan(value) else f"{value:.0f}" for value in values)


if __name__ == "__main__":
    import tyro

    given = tyro.cli(Options, args=sys.argv[1:])
    if not given.table:
        for name in given.names:
            for task in given.tasks:
                train(given, task, name)
    print(*(table(given, task) for task in given.tasks), sep="\n\n")
