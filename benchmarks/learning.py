"""Does it learn? Trains presets on tasks and keeps config, log and curve of each run under results/.

    python benchmarks/learning.py --tasks walker_stand walker_walk [--demos FOLDER]

One demonstration per run: FOLDER/<task>/1.npz, or else the first bundled one. A run that exists already is
resumed or, if it is done, only copied; so the command can be repeated after a stop.
"""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from sfm import api
from sfm.errors import SfmError
from sfm.presets import preset as make_preset
from sfm.progress import Progress
from sfm.run import create, reopen
from sfm.training.logs import read_rows


@dataclass(frozen=True)
class Options:
    """What to train; runs live in --runs, what is worth keeping is copied to --results."""

    tasks: list[str] = field(default_factory=lambda: ["walker_stand", "walker_walk"])
    presets: list[str] = field(default_factory=lambda: ["sfm-td3-cpu", "sfm-td7-cpu"])
    seed: int = 1
    seeds: int = 1
    """Seeds --seed and upwards, trained together."""
    steps: int = 100_000
    demos: Path | None = None
    runs: Path = Path("runs/learning")
    results: Path = Path("results/learning")


def train(options: Options, task: str, name: str) -> Path:
    label = f"{task}_{name}_seed{options.seed}" + (f"x{options.seeds}" if options.seeds > 1 else "")
    folder = options.runs / label
    if (folder / "config.json").exists():
        run = reopen(folder)
    else:
        changes = {"task": task, "seed": options.seed, "seeds": options.seeds, "steps": options.steps}
        config = api.overridden(make_preset(name), changes)
        source = options.demos / task / "1.npz" if options.demos else None
        demos, provenance = api.find_demos(source, config)
        run = create(folder, config, demos, provenance=provenance)
    with Progress(run.config, folder) as progress:
        if not run.train(progress):
            raise SfmError(f"stopped; repeat the command to go on with {folder}")
    api.finish(folder, episodes=10, video=False, note=print)
    kept = options.results / label
    kept.mkdir(parents=True, exist_ok=True)
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


if __name__ == "__main__":
    import tyro

    given = tyro.cli(Options, args=sys.argv[1:])
    print(table([train(given, task, name) for task in given.tasks for name in given.presets]))
