"""What commands share to read their options. tyro is imported only when one does."""

from collections.abc import Sequence
from typing import Any

TASK = "walker_walk"  # of the bundled demonstration


def parse(kind: Any, command: str, args: Sequence[str], **options: Any) -> Any:
    """An instance of the dataclass `kind`, from the words of a command line."""
    import tyro

    return tyro.cli(kind, prog=f"sfm {command}", args=list(args), **options)


def value_of(option: str, args: Sequence[str]) -> str | None:
    """The value of an option, before the parser that depends on it exists."""
    for i, arg in enumerate(args):
        if arg == option and i + 1 < len(args):
            return args[i + 1]
        if arg.startswith(f"{option}="):
            return arg.removeprefix(f"{option}=")
    return None
