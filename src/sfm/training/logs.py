"""Where metrics go: a JSONL file always, TensorBoard and Weights & Biases on request.

A row is a flat dict with "step", perhaps "seed", and scalar metrics.
"""

import importlib
import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from sfm import storage
from sfm.errors import SfmError

Row = dict[str, Any]


class Log(Protocol):
    def write(self, row: Row) -> None: ...
    def close(self) -> None: ...


class JsonlLog:
    """One JSON object per line; NaN and inf are written as null."""

    def __init__(self, path: Path):
        self.path = Path(path)
        if self.path.is_file() and not self.path.read_bytes().endswith(b"\n"):
            self.truncate(lambda row: True)  # a torn last line would swallow the next row

    def write(self, row: Row) -> None:
        line = storage.to_json(row) + "\n"
        try:  # opened per row: a kill loses at most the line in flight
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise storage.cannot_write(self.path, error) from error

    def truncate(self, keep: Callable[[Row], bool]) -> None:
        """Keeps only some rows, atomically: on resume, those up to the checkpoint's step."""
        if self.path.exists():
            lines = (storage.to_json(row) + "\n" for row in read_rows(self.path) if keep(row))
            storage.write_bytes(self.path, "".join(lines).encode())


def read_rows(path: Path) -> list[Row]:
    """The rows of a JSONL log; none if there is no file yet, and without a last line torn by a kill."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SfmError(f"could not read {path}: {error.strerror}") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                rows.append(_renamed(json.loads(line)))
        except ValueError as error:
            if number < len(lines):
                raise SfmError(f"{path}, line {number} is not valid JSON: {error}") from error
    return rows


def _renamed(row: Row) -> Row:
    """A row by the names of today; older logs call the kept policy the checkpoint."""
    return {"eval/kept" if name == "eval/checkpoint" else name: value for name, value in row.items()}


class TensorBoardLog:
    """Event files in one subfolder per seed, so that TensorBoard overlays the seeds."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self._writer = _optional("tensorboard").SummaryWriter
        self._writers: dict[Any, Any] = {}

    def write(self, row: Row) -> None:
        seed, step = row.get("seed"), row["step"]
        try:
            if seed not in self._writers:
                folder = self.folder if seed is None else self.folder / f"seed_{seed}"
                # A resumed run repeats some steps; this hides what was logged beyond its first one. It may
                # begin with an evaluation, which has the step of a round that is not repeated.
                purged = step + ("eval/kept" in row)
                self._writers[seed] = self._writer(str(folder), purge_step=purged, filename_suffix=f".{step}")
            for name, value in _scalars(row):
                self._writers[seed].add_scalar(name, value, step)
            self._writers[seed].flush()
        except OSError as error:
            raise storage.cannot_write(self.folder, error) from error

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()


WANDB_FILE = "wandb.json"  # the id of a run's W&B run


class WandbLog:
    """One Weights & Biases run per folder, continued when the run is resumed."""

    def __init__(self, folder: Path, config: dict[str, Any]):
        wandb = _optional("wandb")
        file = Path(folder) / WANDB_FILE
        if not file.exists():
            storage.write_json(file, {"id": secrets.token_hex(4)})
        self._run = wandb.init(
            project="sfm",
            name=Path(folder).resolve().name,
            id=storage.read_json(file)["id"],
            resume="allow",
            dir=str(folder),
            config=config,
        )
        # wandb's own step only grows; with several seeds or after a resume ours does not.
        self._run.define_metric("*", step_metric="step")

    def write(self, row: Row) -> None:
        prefix = f"seed_{row['seed']}/" if row.get("seed") is not None else ""
        self._run.log({"step": row["step"], **{prefix + name: value for name, value in _scalars(row)}})

    def close(self) -> None:
        self._run.finish()


class Logs:
    """Sends each row to all logs; only the file can forget some again."""

    def __init__(self, jsonl: JsonlLog, *others: Log):
        self.jsonl, self._others = jsonl, others

    def write(self, row: Row) -> None:
        for log in (self.jsonl, *self._others):
            log.write(row)

    def close(self) -> None:
        for log in self._others:
            log.close()


def check_extras(tensorboard: bool, wandb: bool) -> None:
    """Before anything is written: that the packages asked for are there."""
    for extra, asked in {"tensorboard": tensorboard, "wandb": wandb}.items():
        if asked:
            _optional(extra)


def open_logs(folder: Path, tensorboard: bool, wandb: bool, config: dict[str, Any]) -> Logs:
    """Opens `folder/metrics.jsonl`, and `folder/tensorboard` and a wandb run if asked for, now or before."""
    others: list[Log] = []
    if tensorboard or (Path(folder) / "tensorboard").exists():
        others.append(TensorBoardLog(Path(folder) / "tensorboard"))
    if wandb or (Path(folder) / WANDB_FILE).exists():
        others.append(WandbLog(folder, config))
    return Logs(JsonlLog(Path(folder) / "metrics.jsonl"), *others)


def _scalars(row: Row) -> Iterator[tuple[str, float]]:
    for name, value in row.items():
        if name not in ("step", "seed") and value is not None and not isinstance(value, str):
            yield name, float(value)


def _optional(extra: str) -> Any:
    module = {"tensorboard": "tensorboardX", "wandb": "wandb"}[extra]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        install = f"pip install 'successor-feature-matching[{extra}]'"
        raise SfmError(f"logging to {extra} needs {module}: {install}") from error
