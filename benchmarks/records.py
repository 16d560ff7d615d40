"""The tables in results/: which run, and what it had when. CSV, gzipped where the name ends in .gz.

    python -m benchmarks.records SERIES RUN ...          # the evaluations of run folders
    python -m benchmarks.records SERIES runs/bench.json  # the figures of benchmarks.suite

A row is an evaluation (or, in trials, a round) of one seed. RUN says whose it is; putting a run into a table
replaces the rows that it had there. Columns may be missing and others may join: empty cells are not read.
"""

import contextlib
import csv
import fcntl
import gzip
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import machine
from sfm import history, storage
from sfm.config import Config, flat, from_dict, to_dict
from sfm.presets import preset
from sfm.training.logs import read_rows

__all__ = [
    "FINALS",
    "KEPT",
    "RESULTS",
    "RUN",
    "RUNS",
    "SPEED",
    "TRIALS",
    "Row",
    "changes",
    "commit",
    "described",
    "final",
    "grouped",
    "here",
    "identity",
    "keep",
    "noted",
    "put",
    "read",
    "rows_of",
    "write",
]

Row = dict[str, Any]
ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
KEPT = RUNS, FINALS, TRIALS, SPEED = "runs.csv", "finals.csv", "trials.csv.gz", "speed.csv"

RUN = ("series", "figure", "task", "preset", "trial", "changes", "demos", "seed")
TEXT = (*RUN[:-1], "commit", "machine", "command", "curve", "time")  # all other columns are numbers
MEASURED = ("step", "updates", "seconds", "training", "kept", "current", "value")
JUDGED = ("episodes", "mean", "std", "min", "max", "expert")
COLUMNS = (*RUN, "seeds", *MEASURED, *JUDGED, "commit", "machine", "command")


def read(path: Path) -> list[Row]:
    """The rows of a table, none if it is not there; a number that is not given is not in its row."""
    if not path.exists():
        return []
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [
        {name: cell if name in TEXT else _number(cell) for name, cell in row.items() if cell}
        for row in csv.DictReader(io.StringIO(text))
    ]


def write(path: Path, rows: Iterable[Row]) -> None:
    """The whole table, sorted; the same rows give the same bytes."""
    rows = sorted(rows, key=lambda row: (identity(row), row.get("step", row.get("updates", 0))))
    used = dict.fromkeys(name for row in rows for name in row)
    columns = [name for name in COLUMNS if name in used] + [name for name in used if name not in COLUMNS]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    data = text.getvalue().encode()
    storage.write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def put(path: Path, rows: list[Row]) -> None:
    """Rows of whole runs into a table, in place of those that it has of the same runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.parent):
        new = {identity(row) for row in rows}
        write(path, [row for row in read(path) if identity(row) not in new] + rows)


def identity(row: Row) -> tuple:
    """Which run a row is of."""
    return (*(row.get(name, "") for name in RUN[:-1]), row.get("seed", -1))


def rows_of(log: list[Row], run: Row, every: bool = False) -> list[Row]:
    """A run's log as rows: its evaluations and where each seed ended, or every round.

    `updates` are those of the policies that were judged, `training` is the mean return of the episodes that
    were collected since the row before.
    """
    rows = []
    for seed in sorted({row["seed"] for row in log}):
        mine, returns = {}, []
        for row in (row for row in log if row["seed"] == seed):  # an evaluation has the step of a round
            mine[row["step"]] = mine.get(row["step"], {}) | row
        for row in mine.values():
            returns += [row["train/return"]] if row.get("train/return") is not None else []
            if every or "eval/kept" in row or row["step"] == max(mine):
                made = {"step": row["step"], "updates": row.get("eval/updates", row.get("updates"))}
                made |= {"seconds": row["seconds"], "training": np.mean(returns) if returns else None}
                made |= {"kept": row.get("eval/kept"), "current": row.get("eval/current")}
                made |= {"likeness": row.get("likeness/kept")}
                rows.append(run | {"seed": seed} | {k: v for k, v in made.items() if v is not None})
                returns = []
    return rows


def final(run: Row, seed: int, returns: np.ndarray, likeness: float = math.nan, **more: Any) -> Row:
    """What a kept policy had at the end, over many episodes."""
    told = {"mean": returns.mean(), "std": returns.std(), "min": returns.min(), "max": returns.max()}
    told |= {"likeness": likeness} if math.isfinite(likeness) else {}
    return run | {"seed": seed, "episodes": len(returns)} | told | more


def described(config: Config, folder: Path, series: str, machine: str = "") -> Row:
    """What tells a run from others, and how it was made."""
    who = {"series": series, "task": config.task, "preset": config.preset, "changes": changes(config)}
    return who | {"seeds": config.seeds, "commit": noted(folder), "machine": machine or here()}


def changes(config: Config) -> str:
    """What differs from the preset, as `--change` takes it; the task and the seeds aside."""
    own, usual = (dict(flat(to_dict(c))) for c in (config, preset(config.preset)))
    aside = ("task", "preset", "seed", "seeds", "schedule.save_seconds")
    aside += () if usual["action_repeat"] else ("action_repeat",)  # then it is that of the environment
    other = {name: value for name, value in own.items() if name not in aside and usual.get(name) != value}
    told = (value if isinstance(value, str) else json.dumps(value) for value in other.values())
    return " ".join(sorted(f"{_short(name, own)}={value}" for name, value in zip(other, told, strict=True)))


def commit() -> str:
    """The commit of the code, with a + behind it if src/ is not as committed."""
    return history.commit(ROOT / "src")


def noted(folder: Path) -> str:
    """The commit at which the run in a folder began; it is noted there."""
    path = folder / "commit.txt"
    if not path.exists():
        storage.write_bytes(path, commit().encode())
    return path.read_text()


def here() -> str:
    """A short name of this machine: its processor and the cores that are free to use."""
    told = machine()
    return f"{'-'.join(told['processor'].lower().split()[:3])}-{told['threads']}"


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple, list[Row]]:
    """Rows by what they have in some columns, in the order in which that first comes up."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name, "") for name in names), []).append(row)
    return groups


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else changes tables in a folder meanwhile; runs may end at the same time."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _short(name: str, names: Iterable[str]) -> str:
    """The end of a dotted name that no other one has."""
    parts = name.split(".")
    ends = (".".join(parts[-k:]) for k in range(1, len(parts) + 1))
    return next(end for end in ends if end == name or sum(f".{n}".endswith(f".{end}") for n in names) == 1)


def _number(cell: str) -> int | float:
    value = float(cell)
    return int(value) if value.is_integer() and "." not in cell else value


def _cell(value: Any) -> str:
    if not isinstance(value, (float, np.floating)):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1 else f"{value:.3f}".rstrip("0").rstrip(".")


def keep(series: str, path: Path, results: Path = RESULTS) -> Row:
    """Puts a run folder, or the figures of `benchmarks.suite`, into its table; what all rows there share."""
    if path.is_dir():
        who = described(from_dict(Config, storage.read_json(path / "config.json")), path, series)
        put(results / RUNS, rows_of(read_rows(path / "metrics.jsonl"), who))
    else:
        who = {"series": series, "commit": commit(), "machine": here()}
        figures = storage.read_json(path)["figures"]
        put(results / SPEED, [who | {"figure": name, "value": value} for name, value in figures.items()])
    return who


if __name__ == "__main__":
    for name in sys.argv[2:]:
        keep(sys.argv[1], Path(name))
