"""The process of one job. Both engines start it: `python -m sfm.sweep.child`, with the order on its input.

An order is a line of JSON: {"name", "folder", "log", "config", "demos", "demo", "argv", "cores", "threads",
"env"}; argv is that of the sweep, which is what the run's history tells.
It trains the run in `folder`, or goes on with it, and its last word is an `Outcome` in JSON. What else is
printed goes to the log. It ends when its input does, so that it never outlives who started it; SIGTERM saves
it first.
"""

import dataclasses
import errno
import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from sfm.config import Config, from_dict
from sfm.errors import SfmError
from sfm.locks import held

FINISHED = ".finished"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)  # no other job could write either
PATIENCE = 60.0  # seconds for an earlier process of the same job, on a machine that was lost, to end


class Outcome(NamedTuple):
    """How a process of a job ended."""

    state: str  # finished, stopped, failed, killed
    error: str = ""
    hopeless: bool = False  # the other jobs would fail too


def main() -> int:
    out = os.dup(1)
    os.dup2(2, 1)  # what libraries print goes to the log
    with open(0, "rb", buffering=0, closefd=False) as source:
        order = json.loads(source.readline())
    sys.argv = order["argv"]
    threading.Thread(target=_end_with_starter, daemon=True).start()
    if order["cores"] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, order["cores"])
    outcome = carried_out(order)
    os.write(out, json.dumps(outcome).encode())
    return 0


def _end_with_starter() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


def carried_out(order: dict[str, Any]) -> Outcome:
    """Train; whatever goes wrong becomes one line."""
    folder, log = Path(order["folder"]), Path(order["log"])
    try:
        with held(log.with_suffix(".lock"), f"{folder} is being trained by another process", PATIENCE):
            if not _trained(folder, order):
                return Outcome("stopped")
            (folder / FINISHED).touch()
            return Outcome("finished")
    except SfmError as error:
        return failure(error)
    except Exception as error:
        traceback.print_exc()
        first = (str(error).splitlines() or [""])[0]
        what = "out of memory" if _is_memory(error) else f"{type(error).__name__}: {first}"
        return Outcome("failed", f"{what} (more in {log})", _is_full(error))


def failure(error: SfmError) -> Outcome:
    return Outcome("failed", str(error), _is_full(error.__cause__))


def _is_full(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno in FULL


def _is_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)


def _trained(folder: Path, order: dict[str, Any]) -> bool:
    """Whether the run has come to its end; False: it was stopped, and saved."""
    from sfm import api
    from sfm.progress import Progress
    from sfm.run import reopen
    from sfm.training.jax_setup import choose_threads

    config = from_dict(Config, order["config"])
    choose_threads(config)
    os.environ.setdefault("NPROC", str(order["threads"]))
    if (folder / "config.json").exists():
        if not _same(reopen(folder).config, config):
            raise SfmError(f"{folder} was begun with other settings: move it away to begin again")
        return api.resume(folder, reporter=Progress()).finished
    _clear(folder)
    source = {"demos": order["demos"], "demo": order["demo"]}
    return api.train(config=config, **source, folder=folder, reporter=Progress()).finished


def _same(begun: Config, wanted: Config) -> bool:
    """A run's action_repeat of 0 is chosen when it begins."""
    chosen = wanted.action_repeat or begun.action_repeat
    return begun == dataclasses.replace(wanted, action_repeat=chosen)


def _clear(folder: Path) -> None:
    """Removes what a process left that was killed while it made the folder: its config.json comes last."""
    from sfm.run import START
    from sfm.storage import TEMPORARY

    for name in ("demos.npz", START, f"{TEMPORARY}*"):
        for path in folder.glob(name):
            path.unlink()


if __name__ == "__main__":
    sys.exit(main())
