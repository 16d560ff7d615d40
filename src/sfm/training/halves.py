"""A round that is stopped before its end: what it has given so far, as files and back."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfm.training.checkpoint import unflatten
from sfm.training.evaluator import Job

Row = dict[str, Any]


@dataclass
class Half:
    """Its evaluations, made anew when it goes on, and its rows by seed, once its episodes are played."""

    jobs: list[Job]
    rows: dict[int, Row] = field(default_factory=dict)


def policies(half: Half) -> dict[str, Any]:
    """A tree of what is evaluated."""
    judged = {str(k): {"current": job.current, "other": job.other} for k, job in enumerate(half.jobs)}
    return {"judged": judged} if judged else {}


def to_json(half: Half) -> dict[str, Any]:
    jobs = [(job.i, job.row, job.chosen) for job in half.jobs]
    return {"jobs": jobs, "rows": {str(i): row for i, row in half.rows.items()}}


def from_json(data: dict[str, Any], judged: dict[str, np.ndarray], like: Any) -> Half:
    """`judged`: the arrays of `policies`, each of which is built as `like`."""

    def policy(k: int, which: str) -> Any:
        name = f"{k}/{which}/"
        return unflatten(like, {n.removeprefix(name): v for n, v in judged.items() if n.startswith(name)})

    jobs = [
        Job(i, row, chosen, policy(k, "current"), policy(k, "other"))
        for k, (i, row, chosen) in enumerate(data["jobs"])
    ]
    return Half(jobs, {int(i): row for i, row in data["rows"].items()})
