"""The command `sfm`: a file per command, which parses, calls the library and prints."""

import contextlib
import importlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence

import sfm
from sfm import storage
from sfm.cli.parse import TASK
from sfm.errors import SfmError, unknown

EMPTY = "--changes"  # whose empty word is a variant: the preset as it is
COMMANDS = (
    "train", "resume", "fork", "eval", "sweep", "runs", "compare", "report", "watch", "export", "demos",
    "presets", "tasks",
)  # fmt: skip

HELP = f"""\
usage: sfm COMMAND [OPTIONS]      (sfm COMMAND --help tells more)

Imitation from states alone, by Successor Feature Matching.

  train [TASK]      learn to behave like demonstrations; default task {TASK}
  resume RUN        go on with a run that was stopped or killed
  fork RUN NEW      go on with a copy of a run, with other settings
  eval RUN          evaluate a trained policy, draw its curve, record a video
  sweep [PLAN]      train many combinations of tasks, presets, changes and seeds
  runs [FOLDER]     list runs: settings, state, return, likeness
  compare A B ...   learning curves and final values of runs, side by side
  report FOLDER     one page with everything that runs have shown
  watch RUN         a policy live in a browser: pause, step, push, its demonstration beside it
  export POLICY     a policy as .onnx or .npz, for programs without sfm
  demos COMMAND     list, inspect, convert, examine, collect demonstrations; from motion
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
        with _others_quiet(debug):
            status = importlib.import_module(f"sfm.cli.{args[0]}").main(args[1:])
        sys.stdout.flush()
        return status
    except (SfmError, MemoryError, RuntimeError) as error:
        short = isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)  # the latter is JAX's
        if debug or not (short or isinstance(error, SfmError)):
            raise
        fewer = "out of memory: use a smaller --schedule.replay, fewer --seeds or fewer environments"
        return _failed(fewer if short else str(error))
    except BrokenPipeError:  # who reads, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if debug:
            raise
        return _failed(storage.reason(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _no_empty(args: Sequence[str]) -> None:
    """A shell variable that is not set gives an empty word, which would be read as the working directory."""
    option = ""
    for before, arg in zip(("", *args), args, strict=False):
        option = arg if arg.startswith("--") else option
        empty = before if arg == "" else arg[:-1] if arg.startswith("--") and arg.endswith("=") else None
        if empty is not None and option != EMPTY:
            what = empty if empty.startswith("--") else "an argument"
            raise SfmError(f"{what} is empty: give it a value, or leave it out")


def _failed(message: str) -> int:
    """Says it in one line, whatever a file's name or a library put into it."""
    line = re.sub(r"\S{300,}", lambda word: f"{word[0][:100]}...{word[0][-60:]}", " ".join(message.split()))
    print(f"error: {line}".encode(errors="replace").decode(), file=sys.stderr)
    return 1


@contextlib.contextmanager
def _others_quiet(debug: bool) -> Iterator[None]:
    """What other libraries warn of is for those who write code; who asks Python for warnings gets them."""
    if debug or sys.warnoptions:
        yield
        return
    logging.getLogger("absl").addFilter(lambda record: record.levelno >= logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
