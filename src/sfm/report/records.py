"""Runs as they lie on disk, read as little as their table needs: settings, the end of the log, the state."""

import contextlib
import functools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfm import storage
from sfm.envs.repeat import automatic
from sfm.errors import SfmError
from sfm.evaluation.scores import normalised
from sfm.history import past_of
from sfm.report.settings import changes, label, settings_of

TAIL = 16_384  # bytes of a log that are read first
STATES = ("running", "finished", "stopped", "diverged", "damaged")

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Record:
    """One run folder."""

    folder: Path
    settings: dict[str, Any]
    """By their dotted names."""
    state: str
    problem: str = ""
    """What is damaged, or why the run ended; empty if nothing is to be said."""
    last: dict[int, Row] = field(default_factory=dict)
    """By seed: the newest row of the log."""
    judged: dict[int, Row] = field(default_factory=dict)
    """By seed: the newest evaluation."""

    @property
    def task(self) -> str:
        return str(self.settings.get("task", ""))

    @property
    def preset(self) -> str:
        return str(self.settings.get("preset", ""))

    @functools.cached_property
    def changes(self) -> dict[str, Any]:
        """What differs from the preset; task and seeds aside."""
        return changes(self.settings, self._chosen_repeat())

    @functools.cached_property
    def method(self) -> str:
        """Preset and changes, in a few words: runs with the same are seeds of the same."""
        return " ".join(filter(None, (self.preset or "no preset", label(self.changes, self.settings))))

    def _chosen_repeat(self) -> int | None:
        """How many steps a decision has if the run may choose: its policies know the time of a step."""
        policy = next((self.folder / "policies").glob("*.safetensors"), None)
        step = policy and storage.read_meta(policy).get("control_timestep")
        return automatic(step) if step else None

    @property
    def seeds(self) -> list[int]:
        first, count = self.settings.get("seed", 0), self.settings.get("seeds", 1)
        return list(range(first, first + count)) if self.settings else []

    @property
    def steps(self) -> int:
        """Those that all seeds have."""
        return min((int(row.get("step", 0)) for row in self.last.values()), default=0)

    @property
    def minutes(self) -> float:
        """Of the process, which trains all seeds at once."""
        return max((row.get("seconds") or 0.0 for row in self.last.values()), default=0.0) / 60

    def values(self, name: str = "return") -> dict[int, float]:
        """By seed, of the kept policy at its last evaluation: its return, score or likeness."""
        column = "likeness/kept" if name == "likeness" else "eval/kept"
        rows = sorted(self.judged.items())
        found = {seed: row[column] for seed, row in rows if row.get(column) is not None}
        if name != "score":
            return found
        scores = {seed: normalised(self.task, value) for seed, value in found.items()}
        return {} if None in scores.values() else scores


def find(places: Iterable[Path]) -> list[Path]:
    """All run folders at or below some places, in order; an error where there is none."""
    found: dict[Path, None] = {}
    for place in places:
        if not place.is_dir():
            raise SfmError(f"{place} is no folder of runs" if place.exists() else f"{place} not found")
        below = list(_below(str(place)))
        if not below:
            raise SfmError(f"there is no run in {place}: a run folder has a config.json and a metrics.jsonl")
        found |= dict.fromkeys(map(Path, below))
    return list(found)


def _below(place: str) -> Iterator[str]:
    """A folder with settings or a log is a run; runs are not searched for others."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return
    if {"config.json", "metrics.jsonl"} & {entry.name for entry in entries}:
        yield place
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from _below(entry.path)


def read(folder: Path) -> Record:
    """What one run folder tells; never an error: what cannot be read is said in `problem`."""
    settings, problem = settings_of(folder / "config.json")
    expected = max(1, settings.get("seeds", 1))
    last, judged, torn = _ends(folder / "metrics.jsonl", expected)
    past = past_of(folder)
    problem = problem or torn
    if problem:
        state = "damaged"
    else:
        state, problem = _state(folder, settings, last, past)
    return Record(folder, settings, state, problem, last, judged)


def read_all(places: Iterable[Path]) -> list[Record]:
    return [read(folder) for folder in find(places)]


def _state(folder: Path, settings: Row, last: dict[int, Row], past: list[Row]) -> tuple[str, str]:
    """The state of a run that can be read, and why it ended where that is known."""
    end = past[-1] if past else {}
    budget = settings.get("schedule.steps", 0)
    whole = len(last) == settings.get("seeds", 1) and all(r.get("step", 0) >= budget for r in last.values())
    if end.get("finished") or (whole and "error" not in end):
        return "finished", ""
    if _locked(folder / ".lock"):
        return "running", ""
    if end.get("kind") == "Diverged" or any(value is None for row in last.values() for value in row.values()):
        return "diverged", end.get("error", "a value of the log is not finite")
    return "stopped", end.get("error", "")


def _locked(path: Path) -> bool:
    """Whether a process trains in the folder. Looking holds a shared lock for an instant."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return False
    try:
        with open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # none yet
        return False
    return False


def _ends(path: Path, seeds: int) -> tuple[dict[int, Row], dict[int, Row], str]:
    """From its end as far back as needed: the newest row and evaluation of each seed, and what is damaged."""
    try:
        with open(path, "rb") as file:
            size, amount = os.fstat(file.fileno()).st_size, TAIL
            while True:
                file.seek(max(0, size - amount))
                lines = file.read(amount).split(b"\n")
                found = _newest(lines if amount >= size else lines[1:], seeds)
                if amount >= size or len(found[1]) >= seeds or found[2]:
                    break
                amount *= 8
    except FileNotFoundError:
        return {}, {}, ""
    except OSError as error:
        return {}, {}, f"{path.name} cannot be read: {error.strerror}"
    last, judged, damaged = found
    return last, judged, f"{path.name} has lines that are no rows" if damaged else ""


def _newest(lines: list[bytes], seeds: int) -> tuple[dict[int, Row], dict[int, Row], bool]:
    last: dict[int, Row] = {}
    judged: dict[int, Row] = {}
    for number, line in enumerate(reversed(lines)):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            if number == 0:  # the line in flight when a run is killed
                continue
            return last, judged, True
        seed = row.get("seed", 0)
        newer = last.setdefault(seed, row)
        if row.get("step", 0) > newer.get("step", 0):  # evaluations may come after a later round
            last[seed] = row
        if "eval/kept" in row or row.get("eval/checkpoint") is not None:  # None where there is no reward
            judged.setdefault(
                seed, row if "eval/kept" in row else {**row, "eval/kept": row["eval/checkpoint"]}
            )
        if len(judged) >= seeds and len(last) >= seeds:
            break
    return last, judged, False


def _parsed(line: bytes | str) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(line)
    return None


def _row(line: bytes) -> Row | None:
    """A line of the log; None if it is no row."""
    row = _parsed(line)
    if not isinstance(row, dict) or type(row.get("seed", 0)) is not int:
        return None
    told = [
        row.get("step"),
        *(value for name, value in row.items() if name.startswith(("eval/", "likeness/"))),
    ]
    sound = all(type(value) in (int, float) for value in told if value is not None)
    return row if sound and "step" in row and row["step"] is not None else None


def evaluations(record: Record) -> tuple[list[Row], int]:
    """All evaluations of a run, in order, and how many lines of its log could not be read."""
    try:
        lines = (record.folder / "metrics.jsonl").read_bytes().split(b"\n")
    except OSError:
        return [], 0
    rows, damaged = [], 0
    for number, line in enumerate(lines):
        if b'"eval/' in line:
            row = _row(line)
            if row is None:
                damaged += number < len(lines) - 1  # the last is torn by a kill
                continue
            if "eval/checkpoint" in row:
                row["eval/kept"] = row.pop("eval/checkpoint")
            rows.append(row)
    return rows, damaged
