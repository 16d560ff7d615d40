"""The table of a sweep: a row per seed, from what its run folders hold."""

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sfm import storage
from sfm.errors import SfmError
from sfm.evaluation.scores import normalised
from sfm.sweep.child import FINISHED
from sfm.sweep.jobs import Job
from sfm.training.logs import read_rows

TABLE = "jobs.csv"
COLUMNS = ["job", "task", "preset", "changes", "demos", "demo", "seed", "state"]
COLUMNS += ["steps", "return", "score", "likeness", "minutes", "error"]
TAIL = 16_384  # bytes of a log that tell where a run stands

Row = dict[str, Any]


def state_of(folder: Path) -> str:
    """Of a run that no process trains."""
    if (folder / FINISHED).exists():
        return "finished"
    return "stopped" if (folder / "config.json").exists() else "waiting"


def rows_of(job: Job, folder: Path, state: str, error: str = "") -> list[Row]:
    """A row for each seed of a job."""
    try:
        logged = read_rows(folder / "metrics.jsonl")
    except SfmError as unreadable:
        logged, error = [], error or str(unreadable)
    return [_row(job, wish.seed, logged) | {"state": state, "error": error} for wish in job.wishes()]


def _row(job: Job, seed: int, logged: list[Row]) -> Row:
    mine = [row for row in logged if row.get("seed") == seed]
    value = _last(mine, "eval/kept")
    score = None if value is None else normalised(job.task, value)
    return {
        "job": job.name,
        "task": job.task,
        "preset": job.preset,
        "changes": job.label,
        "demos": job.demos or "bundled",
        "demo": job.demo,
        "seed": seed,
        "steps": max((row["step"] for row in mine), default=0),
        "return": _rounded(value, 3),
        "score": _rounded(score, 4),
        "likeness": _rounded(_last(mine, "likeness/kept"), 4),
        "minutes": round(max((row.get("seconds") or 0.0 for row in mine), default=0.0) / 60, 2),
    }


def _rounded(value: Any, digits: int) -> float | None:
    return None if value is None else round(float(value), digits)


def _last(rows: Iterable[Row], name: str) -> Any:
    return next((row[name] for row in reversed(list(rows)) if row.get(name) is not None), None)


def write(folder: Path, rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    storage.write_bytes(folder / TABLE, text.getvalue().encode())


class Standing(NamedTuple):
    """Where a run is that goes on."""

    step: int = 0
    value: float | None = None  # of the last evaluation
    seconds: float = 0.0  # of training until then


def standing(folder: Path) -> Standing:
    """From the end of its log."""
    try:
        with open(folder / "metrics.jsonl", "rb") as file:
            file.seek(-min(TAIL, os.fstat(file.fileno()).st_size), os.SEEK_END)
            lines = file.read().split(b"\n")
    except OSError:  # none yet, or one that is being replaced
        return Standing()
    rows = []
    for line in lines:  # the first and the last may be torn
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    step = max((row["step"] for row in rows), default=0)
    return Standing(step, _last(rows, "eval/kept"), max((r.get("seconds") or 0.0 for r in rows), default=0.0))
