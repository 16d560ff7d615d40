"""A real run that takes seconds, and folders of runs made from its copies."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfm
from tests.conftest import tiny, walk_to_half

DEMOS = [walk_to_half(x) for x in (-1.0, 0.0, 1.0)]


@pytest.fixture(scope="session")
def real(tmp_path_factory) -> Path:
    """Two seeds on the probe."""
    folder = tmp_path_factory.mktemp("real") / "run"
    sfm.train(demos=DEMOS, config=tiny(seeds=2), folder=folder)
    return folder


Copy = Callable[..., Path]


@pytest.fixture
def copy(real: Path, tmp_path: Path) -> Copy:
    """`copy(name, seed=3, task=..., gain=10.0)`: a run with other settings, its returns raised by `gain`."""

    def copied(name: str, gain: float = 0.0, **settings: Any) -> Path:
        folder = tmp_path / name
        shutil.copytree(real, folder)
        config = json.loads((folder / "config.json").read_text())
        first = settings.get("seed", config["seed"])
        rows = rows_of(folder)
        for row in rows:
            row["seed"] += first - config["seed"]
            row |= {k: v + gain for k, v in row.items() if k.startswith("eval/")}
        (folder / "config.json").write_text(json.dumps(config | settings))
        write_rows(folder, rows)
        return folder

    return copied


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
