"""`sfm tasks`: the bundled tasks."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfm.cli.parse import parse


@dataclass(frozen=True)
class Tasks:
    """List the bundled tasks. dm_control's other tasks and Gymnasium ids work by name, too."""


def main(args: Sequence[str]) -> int:
    parse(Tasks, "tasks", args)
    from sfm.envs import TASKS

    print("\n".join(TASKS))
    return 0
