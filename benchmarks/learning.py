"""Does it learn? Trains presets on tasks and keeps config, log and curve of each run under results/.

    python benchmarks/learning.py --tasks walker_stand walker_walk [--demos FOLDER]
    python benchmarks/learning.py --tasks walker_stand cheetah_walk --presets sfm-td3-cpu bc --seeds 2

One demonstration per run: FOLDER/<task>/1.npz, or else the first bundled one. A run that exists already is
resumed or, if it is done, only copied; so the command can be repeated after a stop. It ends with the curves
in numbers, by steps and at equal updates, with when half and four fifths of the expert's return were reached,
and with a table of what the checkpoint policies reach, methods by tasks.
"""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sfm import api, storage
from sfm.errors import SfmError
from sfm.evaluation.scores import normalised, reference
from sfm.presets import preset as make_preset
from sfm.progress import Progress
from sfm.run import Run, create, reopen
from sfm.training.logs import Row, read_rows


@dataclass(frozen=True)
class Options:
    """What to train; runs live in --runs, what is worth keeping is copied to --results."""

    tasks: list[str] = field(default_factory=lambda: ["walker_stand", "walker_walk"])
    presets: list[str] = field(default_factory=lambda: ["sfm-td3-cpu", "sfm-td7-cpu"])
    seed: int = 1
    seeds: int = 1
    """Seeds --seed and upwards, trained together."""
    steps: int | None = 100_000
    """None: as many as the preset says."""
    episodes: int = 20
    """Of each checkpoint policy, at the end."""
    change: list[str] = field(default_factory=list)
    """Options of every preset, named as for `sfm.train`: batch=64 match_from=start."""
    demos: Path | None = None
    runs: Path = Path("runs/learning")
    results: Path = Path("results/learning")


def open_run(folder: Path, name: str, changes: dict[str, Any], demos: Path | None = None) -> Run:
    """The run in `folder`, or a new one of a preset with options changed, from one demonstration."""
    config = api.overridden(make_preset(name), changes)
    if (folder / "config.json").exists():
        run = reopen(folder)
        if run.config != config:
            raise SfmError(f"{folder} was begun with other settings: move it away, or give other --runs")
        return run
    found, provenance = api.find_demos(demos and demos / config.task / "1.npz", config)
    return create(folder, config, found, provenance=provenance)


def go_on(run: Run, folder: Path) -> None:
    """Train to the end, or stop when told to."""
    with Progress(run.config, folder) as progress:
        if not run.train(progress):
            raise SfmError(f"stopped; repeat the command to go on with {folder}")


def train(options: Options, task: str, name: str) -> Path:
    label = f"{task}_{name}_seed{options.seed}" + (f"x{options.seeds}" if options.seeds > 1 else "")
    folder = options.runs / label
    changes = {"task": task, "seed": options.seed, "seeds": options.seeds}
    changes |= {"steps": options.steps} if options.steps else {}
    changes |= dict(map(api.setting, options.change))
    go_on(open_run(folder, name, changes, options.demos), folder)
    returns = api.finish(folder, episodes=options.episodes, video=False, note=print)
    kept = options.results / label
    kept.mkdir(parents=True, exist_ok=True)
    told = {"task": task, "preset": name, "returns": {s: r.round(2).tolist() for s, r in returns.items()}}
    told["expert"] = api.expert_return(folder) or (scale.expert if (scale := reference(task)) else None)
    storage.write_json(kept / "returns.json", told)
    for file in ("config.json", "metrics.jsonl", "curve.png"):
        shutil.copy(folder / file, kept / file)
    return kept


def table(folders: list[Path]) -> str:
    lines = [
        "| run | seed | step | updates | minutes | checkpoint | current |",
        "|---|---|---|---|---|---|---|",
    ]
    for folder in folders:
        for row in read_rows(folder / "metrics.jsonl"):
            if "eval/checkpoint" in row:
                numbers = f"{row['eval/checkpoint']:.0f} | {row['eval/current']:.0f}"
                updates, minutes = row.get("updates", ""), row["seconds"] / 60
                place = f"{folder.name} | {row['seed']} | {row['step']} | {updates}"
                lines.append(f"| {place} | {minutes:.1f} | {numbers} |")
    return "\n".join(lines)


def by_seed(rows: list[Row]) -> list[list[Row]]:
    """The rows of each seed, the lowest first."""
    return [[row for row in rows if row["seed"] == s] for s in sorted({row["seed"] for row in rows})]


def by_updates(folders: list[Path], every: int = 10_000) -> str:
    """Checkpoint policies at equal updates, the mean over seeds; between evaluations in proportion."""
    curves: list[tuple[str, list[float]]] = []
    for folder in folders:
        rows = [row for row in read_rows(folder / "metrics.jsonl") if "eval/checkpoint" in row]
        seeds = by_seed(rows)
        updates = [[row.get("eval/updates", row["updates"]) for row in mine] for mine in seeds]
        returns = [[row["eval/checkpoint"] for row in mine] for mine in seeds]
        marks = np.arange(every, min(map(max, updates)) + 1, every)
        at_marks = [np.interp(marks, x, y, left=np.nan) for x, y in zip(updates, returns, strict=True)]
        curves.append((folder.name, np.mean(at_marks, 0).tolist()))
    most = max(len(curve) for _, curve in curves)
    lines = ["| updates | " + " | ".join(f"{every * (k + 1):,}" for k in range(most)) + " |"]
    lines += ["|---" * (most + 1) + "|"]
    for name, curve in curves:
        cells = ["" if np.isnan(value) else f"{value:.0f}" for value in curve] + [""] * (most - len(curve))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def soonest(folders: list[Path], shares: tuple[float, ...] = (0.5, 0.8)) -> str:
    """When a checkpoint policy first had these shares of the expert's return: steps, seconds of training."""
    lines = ["| run | seed | " + " | ".join(f"{share:.0%}" for share in shares) + " |"]
    lines += ["|---" * (2 + len(shares)) + "|"]
    for folder in folders:
        rows = [row for row in read_rows(folder / "metrics.jsonl") if "eval/checkpoint" in row]
        expert = storage.read_json(folder / "returns.json").get("expert")
        for mine in by_seed(rows) if expert else []:
            there = [next((r for r in mine if r["eval/checkpoint"] >= s * expert), None) for s in shares]
            cells = (f"{r['step']:,} steps, {r['seconds']:.0f} s" if r else "not reached" for r in there)
            lines.append(f"| {folder.name} | {mine[0]['seed']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(folders: list[Path]) -> str:
    """Mean return of the checkpoint policies, +- its spread over seeds; the score (0 random, 1 expert)."""
    cells: dict[str, dict[str, str]] = {}
    tasks: dict[str, None] = {}
    for told in (storage.read_json(folder / "returns.json") for folder in folders):
        seeds = np.array([np.mean(returns) for returns in told["returns"].values()])
        scores = normalised(told["task"], seeds)
        score = "" if scores is None else f" ({scores.mean():.2f})"
        tasks[told["task"]] = None
        cells.setdefault(told["preset"], {})[told["task"]] = f"{seeds.mean():.0f} +- {seeds.std():.0f}{score}"
    for name in ("random", "expert"):
        scale = {task: reference(task) for task in tasks}
        cells[name] = {task: f"{getattr(ref, name):.0f}" for task, ref in scale.items() if ref}
    lines = ["| | " + " | ".join(tasks) + " |", "|---" * (len(tasks) + 1) + "|"]
    lines += [
        f"| {name} | " + " | ".join(row.get(t, "") for t in tasks) + " |" for name, row in cells.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    import tyro

    given = tyro.cli(Options, args=sys.argv[1:])
    done = [train(given, task, name) for name in given.presets for task in given.tasks]
    print(table(done), by_updates(done), soonest(done), summary(done), sep="\n\n")
