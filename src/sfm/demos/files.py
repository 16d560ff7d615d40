"""Small helpers around files and folders."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from sfm import storage
from sfm.errors import SfmError


def natural(name: str | Path) -> list[tuple[int, str]]:
    """A sort key that puts 2.npz before 10.npz."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(name))]


def check_new(path: str | Path, force: bool) -> None:
    """Before any work is done for it: refuses a file that exists, unless forced, or cannot be written."""
    if os.path.isfile(path) and not force:
        raise SfmError(f"{path} exists: choose another name, or overwrite it with --force")
    if str(path).startswith("minari:"):
        return
    folder = Path(path).absolute().parent
    while not os.path.lexists(folder):
        folder = folder.parent
    trial = folder / f"{storage.TEMPORARY}{secrets.token_hex(4)}-{Path(path).name}"
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise storage.cannot_write(Path(path), error) from error


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yields a temporary folder to fill; it becomes `path` if the block succeeds, else it is gone."""
    if os.path.lexists(path):
        raise SfmError(f"could not write {path}: it exists; choose another name or delete it")
    temporary = path.with_name(f"{storage.TEMPORARY}{secrets.token_hex(4)}-{path.name}")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.rename(path)
    except OSError as error:
        raise storage.cannot_write(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
