"""What people see of a sweep: a live table on a terminal, and a line per job everywhere."""

import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sfm.sweep import estimate, table
from sfm.sweep.drive import Sweep

REFRESH = 2.0  # seconds between two looks at the logs of what runs
MOST = 30  # rows of the table


class Show:
    """The watcher of `drive`, also a context in which the table lives."""

    def __init__(self, sweep: Sweep, workers: int):
        self.sweep, self.workers = sweep, workers
        self.console = Console(highlight=False, markup=False, soft_wrap=True)
        self.live = Live(console=self.console, auto_refresh=False, transient=True)
        self.guesses = {name: estimate.seconds(job.config) for name, job in sweep.jobs.items()}
        self.begun: dict[str, float] = {}
        self.looked = 0.0

    def __enter__(self) -> "Show":
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def note(self, message: str) -> None:
        self.console.print(message)

    def begin(self, names: bool) -> None:
        """How many jobs there are, and about how long they take; perhaps the name of each."""
        seeds = sum(job.seeds for job in self.sweep.jobs.values())
        known = len(self.sweep.those("finished")) > 0
        how = "by those that have finished" if known else "a guess by their sizes"
        told = f"{_many(len(self.sweep.jobs), 'job')}, {_many(seeds, 'seed')}: {self.summary()}"
        self.note(f"{told}, {self.workers} at a time ({how})")
        for name in self.sweep.jobs if names else ():
            self.note(f"  {self.sweep.state[name]:8}  {name}")

    def end(self, path: Path) -> int:
        """The exit status."""
        failed = self.sweep.those("failed")
        self.note(f"{self.summary()}: {path}")
        return 1 if failed else 0

    def ended(self, name: str) -> None:
        state, error = self.sweep.state[name], self.sweep.error[name]
        told = error or ", ".join(_result(row) for row in self.sweep.rows_of(name))
        done = len(self.sweep.those("finished", "failed"))
        self.note(f"{done}/{len(self.sweep.jobs)}  {state}  {name}  {told}")

    def look(self) -> None:
        """Renews the table, but not more often than is of use."""
        now = time.monotonic()
        running = self.sweep.those("running")
        for name in running:
            self.begun.setdefault(name, now)
        if self.console.is_terminal and now - self.looked >= REFRESH:
            self.looked = now
            self.live.update(Group(self._table(running), Text(self.summary())), refresh=True)

    def _table(self, running: list[str]) -> Table:
        rows = Table("job", "steps", "", "return", "minutes", box=None)
        for name in running[:MOST]:
            step, value, _ = table.standing(self.sweep.folder / name)
            share = step / self.sweep.jobs[name].config.schedule.steps
            minutes = (time.monotonic() - self.begun[name]) / 60
            shown = "" if value is None else f"{value:.0f}"
            rows.add_row(name, f"{step:,}", f"{share:.0%}", shown, f"{minutes:.1f}")
        return rows

    def summary(self) -> str:
        """'3 finished, 2 running, 5 waiting; about 20 min left'."""
        states = "finished", "failed", "stopped", "running", "waiting"
        counts = {state: len(self.sweep.those(state)) for state in states}
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        left = self.seconds_left()
        return f"{told}; about {estimate.in_words(left)} left" if left else told

    def seconds_left(self) -> float:
        """By the guesses, corrected by what has been measured."""
        where = {name: self._share_and_seconds(name) for name in self.sweep.jobs}
        measured = [(self.guesses[name] * share, seconds) for name, (share, seconds) in where.items()]
        factor = estimate.correction(pair for pair in measured if pair[1])
        todo = self.sweep.those("waiting", "stopped", "running")
        left = [factor * self.guesses[name] * max(0.0, 1 - where[name][0]) for name in todo]
        return max([sum(left) / self.workers, *left], default=0.0)

    def _share_and_seconds(self, name: str) -> tuple[float, float]:
        """How much of a job is done, and how long that took; nothing is known of one that has not trained."""
        if self.sweep.state[name] == "waiting":
            return 0.0, 0.0
        if self.sweep.state[name] in ("finished", "failed"):  # read once
            row = self.sweep.rows_of(name)[0]
            step, seconds = row["steps"], 60 * row["minutes"]
        else:
            step, _, seconds = table.standing(self.sweep.folder / name)
        share = min(1.0, step / self.sweep.jobs[name].config.schedule.steps)
        return share, seconds and seconds + estimate.START


def _result(row: table.Row) -> str:
    value = "no return yet" if row["return"] is None else f"return {row['return']:.1f}"
    score = f" (score {row['score']:.2f})" if row["score"] is not None else ""
    return f"seed {row['seed']}: {value}{score}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")
