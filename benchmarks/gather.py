"""What the runs of a sweep had, into the tables of results/: evaluations, and ends over 20 episodes.

    python -m benchmarks.gather SERIES runs/SWEEP

Runs that have not finished are left out; a second time only new ones are measured. A run with a demonstration
of its own tells which in the column `demos`.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tyro

from benchmarks import records
from sfm import storage
from sfm.config import Config, from_dict
from sfm.measure import MEASURED, measure
from sfm.sweep.jobs import Job, remembered
from sfm.training.logs import read_rows

EPISODES = 20


def gather(
    series: tyro.conf.Positional[str],
    folder: tyro.conf.Positional[Path],
    runs: Path = records.RESULTS / records.RUNS,
    finals: Path = records.RESULTS / records.FINALS,
    machine: str = "",
) -> int:
    """Puts what has finished into two tables, which may be one; how many seeds that are.

    Args:
        series: What these runs are called there.
        folder: The sweep's.
        runs: The table of evaluations.
        finals: The table of ends.
        machine: A name for where they ran; default: this one, with all its cores idle.
    """
    rows, ends = [], []
    for job in remembered(folder):
        run = folder / job.name
        log = read_rows(run / "metrics.jsonl") if (run / "config.json").exists() else []
        config = log and from_dict(Config, storage.read_json(run / "config.json"))
        if not config or min(row["step"] for row in log[-config.seeds :]) < config.schedule.steps:
            continue
        who = records.described(config, run, series, machine) | _demonstration(job)
        rows += records.rows_of(log, who)
        ends += _ends(run, who)
    if rows:
        records.put(runs, rows + (ends if runs == finals else []))
        if runs != finals:
            records.put(finals, ends)
    return len(ends)


def _demonstration(job: Job) -> records.Row:
    which = [Path(job.demos).stem] if job.demos else []
    which += [] if job.demo is None else [str(job.demo)]
    return {"demos": ":".join(which)} if which else {}


def _ends(run: Path, who: records.Row) -> Iterator[records.Row]:
    told = storage.read_json(run / MEASURED) if (run / MEASURED).exists() else {}
    if told.get("episodes") != EPISODES:
        told = measure(run, episodes=EPISODES, video=False).told
    for end in told["seeds"]:
        likeness = np.nan if end["likeness"] is None else end["likeness"]
        expert = {} if told["expert_return"] is None else {"expert": told["expert_return"]}
        yield records.final(who, end["seed"], np.array(end["returns"]), likeness, **expert)


if __name__ == "__main__":
    print(tyro.cli(gather, prog="python -m benchmarks.gather"), "seeds have finished")
