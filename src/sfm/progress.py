"""A progress bar for people, a text that renews itself in notebooks, plain lines for files."""

import math
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from sfm.config import Config

_BAR, _NARROW = 24, 8  # columns of the bar, and of a narrow terminal's
_PAUSE = 0.25  # seconds between two changes of a notebook's last line


class Progress:
    """Shows the kept policy's last evaluation, steps/s, the feature gap, updates/s and the time left."""

    def __init__(self, console: Console | None = None, renew: Callable[[str], object] | None = None) -> None:
        """`renew` shows a whole text in the place of the one before; by default in a notebook alone."""
        self.console = console or Console(highlight=False, markup=False, soft_wrap=True)
        self.renew = _notebook() if renew is None and self.console.is_jupyter else renew
        self.notes: list[str] = []  # above the line that changes
        self.renewed = -math.inf
        self.columns = BarColumn(bar_width=_BAR)
        self.bar = Bar(
            TextColumn("{task.description}", markup=False),
            self.columns,
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.fields[status]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=self.console,
            disable=self.renew is not None or not self.console.is_terminal,
        )
        self.seen: tuple[float, int, int] | None = None  # time, steps, updates
        self.latest: dict[int, dict[str, Any]] = {}
        self.evaluation = ""

    def begin(self, folder: Path, config: Config) -> None:
        self.note(f"run    {folder}")
        total = config.schedule.steps * config.seeds
        self.task = self.bar.add_task(config.task, total=total, status="")
        self._show(config.task, ["compiling"], 0)
        self.bar.start()

    def end(self) -> None:
        self.bar.stop()
        self._renew("")

    def note(self, message: str) -> None:
        if self.renew is None:
            self.console.print(message)
        self.notes.append(message)
        self._renew("")

    def round(self, rows: list[dict[str, Any]], config: Config) -> None:
        self.latest |= {row["seed"]: row for row in rows}
        steps = sum(row["step"] for row in self.latest.values())
        updates = sum(row.get("updates", 0) for row in self.latest.values())
        now = time.monotonic()
        rates = ["", ""]
        if self.seen:
            seconds = max(now - self.seen[0], 1e-9)
            new_steps, new_updates = steps - self.seen[1], updates - self.seen[2]
            rates = [f"{new_steps / seconds:,.0f} steps/s", f"{new_updates / seconds:,.0f} updates/s"]
        self.seen = (now, steps, updates)
        gaps = [row["gap"] for row in rows if "gap" in row]
        gap = f"gap {sum(gaps) / len(gaps):.3g}" if gaps else ""
        for row in rows:
            if "eval/kept" in row:
                likeness = row.get("likeness/kept", math.nan)
                alike = f"likeness {likeness:.2f}" if math.isfinite(likeness) else ""
                returns, short = "", ""
                if row["eval/kept"] is not None:  # where there is a reward
                    short = f"return {row['eval/kept']:.0f} "
                    returns = f"kept {row['eval/kept']:7.1f} current {row['eval/current']:7.1f}  "
                self.evaluation = f"{short}{alike}".strip()
                # In 80 columns: the seed, where there are several, or the gap, a mean over seeds.
                several = config.seeds > 1
                who = f"seed {row['seed']}  " if several else ""
                told = f"{alike:15}" if several else f"{f'{alike}  {gap}'.strip():26}"
                self.note(f"step {row['step']:>9,}  {who}{returns}{told} {row['seconds']:5.0f} s")
        self._show(config.task, [self.evaluation, rates[0], gap, rates[1]], steps)

    def _show(self, name: str, parts: list[str], steps: int) -> None:
        """The bar as it fits the terminal, or the line of a notebook; the first parts matter most."""
        task = self.bar.tasks[self.task]
        if time.monotonic() - self.renewed >= _PAUSE:
            self._renew(" ".join((name, f"{steps / (task.total or 1):.0%}", *filter(None, parts))))
        times = 2 * max(7, len(str(timedelta(seconds=int(task.elapsed or 0)))))
        fixed = times + len("100%") + len("left") + 6  # and a space between each two
        room = self.console.width - fixed - _NARROW
        name = name if len(name) < room / 2 else ""  # the folder has it, too
        status = ""
        for part in filter(None, parts):
            longer = f"{status} {part}".strip()
            status = longer if len(longer) + len(name) <= room else status
        self.columns.bar_width = min(_BAR, _NARROW + room - len(status) - len(name))
        self.bar.update(self.task, completed=steps, description=name, status=status)

    def _renew(self, line: str) -> None:
        """In a notebook, where no bar moves: all notes, and a line for what is under way."""
        if self.renew is not None:
            self.renew("\n".join(filter(None, (*self.notes, line))))
            self.renewed = time.monotonic()


def _notebook() -> Callable[[str], object]:
    """Shows a text in the output of the cell that runs; the next one takes its place."""
    from IPython.display import display  # pyright: ignore[reportMissingImports]

    place = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: place.update({"text/plain": text}, raw=True)
