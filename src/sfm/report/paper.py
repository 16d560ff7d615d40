"""The paper's own numbers: returns of its methods, and what they mean as scores."""

from typing import NamedTuple

import numpy as np

from sfm.evaluation.scores import normalised, published
from sfm.evaluation.stats import Estimate

FIGURE_1 = ("BC", "IQ-Learn", "OPOLO", "MM (TD7)", "GAIfO (TD7)", "SFM (TD7)")
WIDTH = 1.96  # of a normal distribution's 95%, in standard errors


class Told(NamedTuple):
    """Returns over the paper's ten seeds."""

    mean: float
    std: float


def tasks() -> list[str]:
    return list(published()["scale"]["returns"])


def tables() -> dict[str, dict[str, dict[str, Told]]]:
    """By table, method and task."""
    found = published()["returns"]
    return {
        name: {method: {task: Told(*told) for task, told in row.items()} for method, row in table.items()}
        for name, table in found.items()
    }


def methods(*names: str) -> dict[str, dict[str, Told]]:
    """Of some tables, or of all."""
    return {
        m: row for name, table in tables().items() if not names or name in names for m, row in table.items()
    }


def mean_score(method: str, of: list[str]) -> Estimate:
    """The mean score over some tasks. The interval takes seeds as normal: the paper tells none."""
    told = [methods()[method][task] for task in of]
    scores = [normalised(task, t.mean) for task, t in zip(of, told, strict=True)]
    spread = [normalised(task, t.mean + t.std) - s for task, t, s in zip(of, told, scores, strict=True)]
    error = WIDTH * np.sqrt(np.square(spread).sum() / published()["seeds"]) / len(of)
    return Estimate(float(np.mean(scores)), float(np.mean(scores) - error), float(np.mean(scores) + error))
