"""What the soak needs of the machine: a process's memory over time, and a disk that can be full."""

import contextlib
import os
import resource
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from benchmarks.measure import entry

__all__ = ["Disk", "Memory", "drift", "small_disk", "worked"]

SIZE = 100  # megabytes of a small disk: some checkpoints
LIMIT = 4096  # bytes of a file where there is no such disk
EVERY = 5.0  # seconds between two looks at the memory


def drift(samples: Sequence[tuple[float, float]]) -> float:
    """Per cent by which a line through the last three quarters of (seconds, megabytes) rises over them."""
    late = np.array(samples)[len(samples) // 4 :]
    if len(late) < 2:
        return float("nan")
    seconds, held = late.T
    slope = np.polyfit(seconds - seconds[0], held, 1)[0]
    return float(100 * slope * (seconds[-1] - seconds[0]) / held.mean())


class Memory:
    """Looks at what a process holds, without pages of mapped files, and writes it down."""

    def __init__(self, process: int, path: Path, every: float = EVERY):
        self.process, self.path, self.every = process, path, every
        self.samples: list[tuple[float, float]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        begin = time.monotonic()
        with open(self.path, "w", buffering=1) as file:
            print("seconds,megabytes", file=file)
            while not self._done.wait(self.every):
                try:
                    told = entry(f"/proc/{self.process}/status", "RssAnon")
                except OSError:  # it ended just now
                    told = ""
                if not told:
                    return
                self.samples.append((time.monotonic() - begin, int(told.split()[0]) / 1024))
                print("{:.0f},{:.2f}".format(*self.samples[-1]), file=file)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()


def worked(process: int) -> float:
    """Seconds of the processor that a process has had."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ended just now
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Disk:
    """A folder in which processes run out of room when they are told to."""

    def __init__(self, folder: Path, own: bool):
        """`own`: it is a disk of its own, and may be filled."""
        self.folder, self.own = folder, own

    @contextlib.contextmanager
    def filled(self, process: int) -> Iterator[None]:
        """In here there is no room; where the disk is not its own, for this process alone, and for good."""
        if not self.own:
            with contextlib.suppress(ProcessLookupError):  # it has ended already
                _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
                resource.prlimit(process, resource.RLIMIT_FSIZE, (LIMIT, hard))
            yield
            return
        ballast = self.folder / "ballast"
        try:
            with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16 if room(self.folder) > 1 << 16 else 1))
            yield
        finally:
            ballast.unlink()


def room(folder: Path) -> int:
    told = os.statvfs(folder)
    return told.f_bavail * told.f_frsize


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """A disk of its own in the memory, where this process may mount one, else a folder."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(folder)]
    try:
        own = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        own = False
    print(f"a full disk is {'one of its own' if own else 'a limit on the size of files'}", flush=True)
    try:
        yield Disk(folder, own)
    finally:
        if own:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
