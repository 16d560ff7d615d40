"""What comes with the package, for each task: demonstrations (.npz) and the policy that gave them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from sfm.demos.formats import npz_files
from sfm.demos.types import Demos
from sfm.errors import unknown

DATA = Path(__file__).parent / "data"


def names() -> list[str]:
    """The tasks with bundled demonstrations."""
    return sorted(file.stem for file in DATA.glob("*.npz"))


def bundled(task: str) -> Demos | None:
    """The demonstrations of a task, or None if none are bundled."""
    return npz_files.load(found) if (found := file(task)) else None


def file(task: str) -> Path | None:
    """Where the demonstrations of a task are, or None if none are bundled."""
    return DATA / f"{task}.npz" if task in names() else None


def provenance(task: str) -> dict[str, Any]:
    """How the demonstrations of a task were made: seed, training steps, returns, choice, versions."""
    if task not in names():
        raise unknown("bundled demonstrations", task, names())
    with np.load(DATA / f"{task}.npz", allow_pickle=False) as file:
        return json.loads(str(file["provenance"]))


def policy_file(task: str) -> Path | None:
    """The expert's policy, or None if none is bundled."""
    path = DATA / f"{task}.safetensors"
    return path if os.path.exists(path) else None
