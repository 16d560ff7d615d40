"""How commands read their options. tyro is imported only when one does."""

from collections.abc import Callable, Sequence

TASK = "walker_walk"  # of the bundled demonstration


def command(function: Callable[..., int | None]) -> Callable[[Sequence[str]], int]:
    """The command of this file: the function's parameters are its options, and its docstring the help."""

    def main(args: Sequence[str]) -> int:
        import tyro

        name = function.__module__.rpartition(".")[2]
        return tyro.cli(function, prog=f"sfm {name}", args=args, config=(tyro.conf.AvoidSubcommands,)) or 0

    return main


def value_of(option: str, args: Sequence[str]) -> str | None:
    """The value of an option, before the parser that depends on it exists."""
    for i, arg in enumerate(args):
        if arg == option and i + 1 < len(args):
            return args[i + 1]
        if arg.startswith(f"{option}="):
            return arg.removeprefix(f"{option}=")
    return None
