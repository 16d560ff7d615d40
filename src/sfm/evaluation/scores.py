"""Returns on one scale, the paper's: 0 is a policy of random actions, 1 its expert."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

from sfm import storage
from sfm.demos.bundled import DATA


class Reference(NamedTuple):
    """Mean returns of a task, of random actions and, without noise, of our own expert."""

    random: float
    expert: float
    random_error: float  # standard error of the mean
    random_episodes: int
    expert_episodes: int


@functools.cache
def reference(task: str) -> Reference | None:
    """Of a bundled task; None for others."""
    found = storage.read_json(DATA / "returns.json").get(task)
    return Reference(**found) if found else None


@functools.cache
def published() -> dict[str, Any]:
    """The paper's own numbers, and the scale; paper.json names their source."""
    return storage.read_json(Path(__file__).with_name("paper.json"))


def normalised(task: str, returns: Any) -> Any:
    """Of one return or an array of them, the scores; None for tasks that are not the paper's."""
    if task not in published()["scale"]["returns"]:
        return None
    random, expert = published()["scale"]["returns"][task]
    return (returns - random) / (expert - random)
