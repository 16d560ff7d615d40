"""The paper's own numbers (paper.json names their source), and the scale of scores that they are on."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfm import storage
from sfm.evaluation.stats import Estimate

FIGURE_1 = ("BC", "IQ-Learn", "OPOLO", "MM (TD7)", "GAIfO (TD7)", "SFM (TD7)")
WIDTH = 1.96  # of a normal distribution's 95%, in standard errors


class Told(NamedTuple):
    """Returns over the paper's ten seeds."""

    mean: float
    std: float


@functools.cache
def data() -> dict[str, Any]:
    return storage.read_json(Path(__file__).parent / "paper.json")


def tasks() -> list[str]:
    return list(data()["scale"]["returns"])


def tables() -> dict[str, dict[str, dict[str, Told]]]:
    """By table, method and task."""
    found = data()["returns"]
    return {
        name: {method: {task: Told(*told) for task, told in row.items()} for method, row in table.items()}
        for name, table in found.items()
    }


def methods(*names: str) -> dict[str, dict[str, Told]]:
    """Of some tables, or of all."""
    return {
        m: row for name, table in tables().items() if not names or name in names for m, row in table.items()
    }


def score(task: str, returns: Any) -> Any:
    """On the paper's scale: 0 is random actions, 1 its expert; None for other tasks."""
    if task not in data()["scale"]["returns"]:
        return None
    random, expert = data()["scale"]["returns"][task]
    return (returns - random) / (expert - random)


def mean_score(method: str, of: list[str]) -> Estimate:
    """The mean score over some tasks. The interval takes seeds as normal: the paper tells none."""
    told = [methods()[method][task] for task in of]
    scores = [score(task, t.mean) for task, t in zip(of, told, strict=True)]
    spread = [score(task, t.mean + t.std) - s for task, t, s in zip(of, told, scores, strict=True)]
    error = WIDTH * np.sqrt(np.square(spread).sum() / data()["seeds"]) / len(of)
    return Estimate(float(np.mean(scores)), float(np.mean(scores) - error), float(np.mean(scores) + error))
