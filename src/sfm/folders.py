"""The folder of a run: a new one for each, and one process at a time."""

import contextlib
import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path

from sfm import storage
from sfm.config import Config
from sfm.envs import is_robot
from sfm.errors import SfmError
from sfm.locks import held

LOCK = ".lock"


def fresh(config: Config) -> Path:
    """A new folder under runs/, made here: of those who ask in the same second, each has its own."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    task = Path(config.task).stem if is_robot(config.task) else re.sub("[/:]", "-", config.task)
    name = f"{task}_{config.preset}_seed{config.seed}_{stamp}"
    for k in itertools.count(1):
        folder = Path("runs") / (name if k == 1 else f"{name}_{k}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            if not Path("runs").is_dir():
                raise SfmError(
                    "could not write runs: it is a file; choose another folder with --run"
                ) from None
        except OSError as error:
            raise storage.cannot_write(folder, error) from error
    raise AssertionError  # counting has no end


def unused(folder: Path) -> Path:
    """`folder`, where there is nothing yet, or nothing but a lock."""
    folder = Path(folder)
    try:
        used = folder.exists() and (
            not folder.is_dir() or any(path.name != LOCK for path in folder.iterdir())
        )
    except OSError as error:
        raise storage.cannot_write(folder, error) from error
    if used:
        resumable = (folder / "config.json").exists()
        advice = f"continue it with 'sfm resume {folder}', or choose" if resumable else "choose"
        raise SfmError(f"{folder} already exists: {advice} another folder for the run")
    return folder


@contextlib.contextmanager
def taken(folder: Path) -> Iterator[None]:
    """In here a folder that is unused belongs to this process: for the first writes of a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage.cannot_write(folder, error) from error
    with alone(folder):
        unused(folder)
        yield


def alone(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Two processes would write the same log and checkpoints."""
    return held(folder / LOCK, f"{folder} is being trained by another process")
