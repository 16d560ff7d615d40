"""The command `sfm`: a file per command, which parses, calls the library and prints."""

import importlib
import os
import sys
from collections.abc import Sequence

import sfm
from sfm.cli.parse import TASK
from sfm.errors import SfmError, unknown

COMMANDS = (
    "train", "resume", "fork", "eval", "sweep", "runs", "compare", "report", "demos", "presets", "tasks",
)  # fmt: skip

HELP = f"""\
usage: sfm COMMAND [OPTIONS]      (sfm COMMAND --help tells more)

Imitation from states alone, by Successor Feature Matching.

  train [TASK]      learn to behave like demonstrations; default task {TASK}
  resume RUN        go on with a run that was stopped or killed
  fork RUN NEW      go on with a copy of a run, with other settings
  eval RUN          evaluate a trained policy, draw its curve, record a video
  runs [FOLDER]     list runs: settings, state, return, likeness
  compare A B ...   learning curves and final values of runs, side by side
  report FOLDER     one page with everything that runs have shown
  sweep [PLAN]      train many combinations of tasks, presets, changes and seeds
  demos COMMAND     list, inspect, convert, examine and collect demonstrations
  presets           the named configurations
  tasks             the bundled tasks

  --debug           show the traceback of an error
  --version
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 an error that one line explains, 2 bad usage, 130 interrupted, 141 unread."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    if not args or args[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0
    if args[0] == "--version":
        print(sfm.__version__)
        return 0
    try:
        _no_empty(args)
        if args[0] not in COMMANDS:
            raise unknown("command", args[0], COMMANDS)
        status = importlib.import_module(f"sfm.cli.{args[0]}").main(args[1:])
        sys.stdout.flush()
        return status
    except (SfmError, MemoryError, RuntimeError) as error:
        short = isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)  # the latter is JAX's
        if debug or not (short or isinstance(error, SfmError)):
            raise
        fewer = "out of memory: use a smaller --schedule.replay, fewer --seeds or fewer environments"
        print(f"error: {fewer if short else error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _no_empty(args: Sequence[str]) -> None:
    """A shell variable that is not set gives an empty word, which would be read as the working directory."""
    for before, arg in zip(("", *args), args, strict=False):
        empty = before if arg == "" else arg[:-1] if arg.startswith("--") and arg.endswith("=") else None
        if empty is not None:
            what = empty if empty.startswith("--") else "an argument"
            raise SfmError(f"{what} is empty: give it a value, or leave it out")
