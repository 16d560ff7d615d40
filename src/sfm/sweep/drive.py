"""Runs the jobs of a sweep on an engine, until all have ended. It knows neither Ray nor the screen."""

import contextlib
import signal
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from sfm import storage
from sfm.config import to_dict
from sfm.errors import SfmError
from sfm.locks import held
from sfm.sweep import table
from sfm.sweep.child import Outcome, failure
from sfm.sweep.jobs import Job, remember
from sfm.sweep.process import Order
from sfm.training.checkpoint import Checkpoints

TRIES = 4  # of a job that is killed each time before it saves


class Engine(Protocol):
    def slots(self) -> int: ...
    def start(self, order: Order) -> None: ...
    def ended(self, seconds: float) -> list[tuple[str, Outcome]]: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...


class Sweep:
    """Where each job of a sweep stands."""

    def __init__(self, folder: Path, jobs: Sequence[Job], known: Sequence[Job] = ()):
        """jobs: what is to be done; known: other jobs that the folder holds, for the table alone."""
        self.folder = Path(folder).absolute()
        self.jobs = {job.name: job for job in jobs}
        begun = [job for job in known if (self.folder / job.name).exists()]
        self.all = {job.name: job for job in (*begun, *jobs)}
        self.state = {name: table.state_of(self.folder / name) for name in self.all}
        self.error: dict[str, str] = {}
        self._rows: dict[str, list[table.Row]] = {}

    def those(self, *states: str) -> list[str]:
        return [name for name in self.jobs if self.state[name] in states]

    def order(self, name: str) -> Order:
        job = self.jobs[name]
        log = self.folder / "logs" / f"{name}.txt"
        paths = {"folder": str(self.folder / name), "log": str(log)}
        local = job.demos and Path(job.demos).exists()  # else it is the name of a dataset
        demos = str(Path(job.demos or "").absolute()) if local else job.demos
        source = {"demos": demos, "demo": job.demo, "argv": sys.argv}
        return {"name": name, **paths, "config": to_dict(job.config), **source}

    def rows(self) -> list[table.Row]:
        """Of all jobs."""
        return [row for name in self.all for row in self.rows_of(name)]

    def rows_of(self, name: str) -> list[table.Row]:
        """Those of a job that has ended are read once."""
        if name in self._rows:
            return self._rows[name]
        state, error = self.state[name], self.error.get(name, "")
        rows = table.rows_of(self.all[name], self.folder / name, state, error)
        if state in ("finished", "failed"):
            self._rows[name] = rows
        return rows

    def set(self, name: str, state: str, error: str = "") -> None:
        self.state[name], self.error[name] = state, error
        self._rows.pop(name, None)


class Watcher(Protocol):
    """Is told what happens, and asked to look now and then."""

    def note(self, message: str) -> None: ...
    def ended(self, name: str) -> None: ...
    def look(self) -> None: ...


def drive(sweep: Sweep, engine: Engine, watcher: Watcher) -> None:
    """Until every job has finished or failed. KeyboardInterrupt: what ran has been stopped, and saved."""
    try:
        sweep.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage.cannot_write(sweep.folder, error) from error
    with held(sweep.folder / ".lock", f"{sweep.folder} is being run by another sweep"):
        remember(sweep.folder, sweep.all.values())
        table.write(sweep.folder, sweep.rows())
        with _stoppable():
            try:
                _Driver(sweep, engine, watcher).run()
            finally:
                engine.close()


class _Driver:
    def __init__(self, sweep: Sweep, engine: Engine, watcher: Watcher):
        self.sweep, self.engine, self.watcher = sweep, engine, watcher
        self.waiting = deque(sweep.those("stopped", "waiting"))
        self.running: set[str] = set()
        self.kills: Counter[str] = Counter()
        self.saved: dict[str, int] = {}  # the checkpoint with which a job began
        self.hopeless = ""

    def run(self) -> None:
        try:
            while self.running or (self.waiting and not self.hopeless):
                while self.waiting and not self.hopeless and len(self.running) < self.engine.slots():
                    self._start(self.waiting.popleft())
                self._collect(0.5)
                self.watcher.look()
        except BaseException:
            self._stop()
            raise
        if self.hopeless:
            raise SfmError(f"{self.hopeless}; start the sweep again to go on: nothing is lost")

    def _start(self, name: str) -> None:
        self.saved[name] = _checkpoint(self.sweep.folder / name)
        try:
            self.engine.start(self.sweep.order(name))
        except SfmError as error:
            self._note_end(name, failure(error))
            return
        self.running.add(name)
        self.sweep.set(name, "running")

    def _collect(self, seconds: float) -> None:
        for name, outcome in self.engine.ended(seconds):
            self.running.remove(name)
            if outcome.state == "killed":
                outcome = self._again(name, outcome)
            self._note_end(name, outcome)

    def _again(self, name: str, outcome: Outcome) -> Outcome:
        """What was killed goes on, unless it is killed again and again without having saved."""
        advanced = _checkpoint(self.sweep.folder / name) > self.saved[name]
        self.kills[name] = 1 if advanced else self.kills[name] + 1
        if self.kills[name] >= TRIES:
            advice = "is there too little memory? Use fewer --workers or a smaller schedule.replay"
            return Outcome("failed", f"{outcome.error}, {TRIES} times: {advice}")
        self.watcher.note(f"{name} was {outcome.error}: it goes on")
        self.waiting.appendleft(name)
        return Outcome(table.state_of(self.sweep.folder / name))

    def _note_end(self, name: str, outcome: Outcome) -> None:
        self.sweep.set(name, outcome.state, outcome.error)
        if outcome.hopeless:
            self.hopeless = outcome.error
        if name not in self.waiting:
            self.watcher.ended(name)
        try:
            table.write(self.sweep.folder, self.sweep.rows())
        except SfmError as error:  # the next job's end, or the next start, writes it again
            self.watcher.note(str(error))

    def _stop(self) -> None:
        """Lets all that run save; a second Ctrl-C ends them at once."""
        if not self.running:
            return
        self.watcher.note("stopping: what runs is saved (Ctrl-C again to end it at once)")
        self.engine.stop()
        while self.running:
            for name, outcome in self.engine.ended(1.0):
                self.running.remove(name)
                state = "stopped" if outcome.state == "killed" else outcome.state
                self.sweep.set(name, state, outcome.error if state == "failed" else "")
        with contextlib.suppress(SfmError):
            table.write(self.sweep.folder, self.sweep.rows())
        self.watcher.note("stopped and saved; the same command goes on")


def _checkpoint(folder: Path) -> int:
    return max(Checkpoints(folder / "checkpoints").steps(), default=0)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM, as of a batch system, and a terminal that closes are Ctrl-C."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    heard = [number for number in asked if signal.getsignal(number) != signal.SIG_IGN]  # not under nohup
    try:
        before = {number: signal.signal(number, interrupt) for number in heard}
    except ValueError:  # not in the main thread
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
