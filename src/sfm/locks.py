"""Files that one process holds at a time. The lock ends with its process, however it ends."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from sfm.errors import SfmError
from sfm.storage import cannot_write


@contextlib.contextmanager
def held(path: Path, taken: str, patience: float = 0.0) -> Iterator[None]:
    """Holds the lock `path`; the error `taken` if another process still has it after `patience` seconds."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        file = open(path, "w")  # noqa: SIM115
    except OSError as error:
        raise cannot_write(path, error) from error
    with file:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise SfmError(taken) from error
                time.sleep(0.1)
        yield
