"""`sfm tasks`: the bundled tasks."""

from sfm.cli.parse import command


@command
def main() -> None:
    """List the bundled tasks. dm_control's other tasks and Gymnasium ids work by name, too."""
    from sfm.envs import TASKS

    print("\n".join(TASKS))
