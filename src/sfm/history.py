"""Where, when and with what a run was trained: RUN/history.jsonl, a row per start and one per end.

A start has the command, the commit of the code, versions and the machine; an end says whether the run has
finished, and what went wrong.
"""

import contextlib
import importlib.metadata
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfm import storage
from sfm.errors import SfmError

FILE = "history.jsonl"
PACKAGES = (
    "successor-feature-matching",
    "jax",
    "jaxlib",
    "equinox",
    "optax",
    "numpy",
    "mujoco",
    "dm_control",
)


@contextlib.contextmanager
def noted(folder: Path) -> Iterator[dict[str, Any]]:
    """Notes a start, and what the block has put into the yielded dict at its end."""
    _append(folder, {"began": _now(), **start()})
    told: dict[str, Any] = {}
    try:
        yield told
    except SfmError as error:
        _append(folder, {"ended": _now(), "error": str(error), "kind": type(error).__name__})
        raise
    _append(folder, {"ended": _now(), **told})


def past_of(folder: Path) -> list[dict[str, Any]]:
    """Its starts and ends; none of runs that did not note them yet."""
    rows: list[Any] = []
    with contextlib.suppress(OSError):
        for line in (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]


def start() -> dict[str, Any]:
    """What a result depends on besides its settings."""
    return {
        "command": command(),
        "commit": commit(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
        "machine": f"{_processor()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores"
        if hasattr(os, "sched_getaffinity")
        else f"{_processor()}, {os.cpu_count()} cores",
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def command() -> str:
    """How this process was called, as one would type it."""
    name = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    return shlex.join(["sfm" if name == "__main__.py" else name, *sys.argv[1:]])


def commit(here: Path = Path(__file__).parent) -> str:
    """The commit of a folder, of the code by default, with a + behind it if it is not as committed; empty
    where git does not know."""
    head, diff = ["rev-parse", "--short=7", "HEAD"], ["diff", "--quiet", "HEAD", "--", "."]
    try:
        said, differs = (
            subprocess.run(["git", "-C", str(here), *args], capture_output=True, text=True, timeout=10)
            for args in (head, diff)
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    known = said.returncode == 0 and not here.match("site-packages/*")
    return said.stdout.strip() + ("+" if differs.returncode == 1 else "") if known else ""


def _append(folder: Path, row: dict[str, Any]) -> None:
    """A line more; an error of the disk is left to what must be written."""
    with contextlib.suppress(OSError), open(Path(folder) / FILE, "a", encoding="utf-8") as file:
        file.write(storage.to_json(row) + "\n")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
