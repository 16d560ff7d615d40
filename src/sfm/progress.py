"""A progress bar for people, plain lines for files."""

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from sfm.config import Config


class Progress:
    """Shows steps/s, updates/s, time left, the feature gap and the last evaluation, of the kept policy."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, markup=False, soft_wrap=True)
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.fields[status]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.seen: tuple[float, int, int] | None = None  # time, steps, updates
        self.latest: dict[int, dict[str, Any]] = {}
        self.evaluation = ""

    def begin(self, folder: Path, config: Config) -> None:
        self.note(f"run    {folder}")
        total = config.schedule.steps * config.seeds
        self.task = self.bar.add_task(config.task, total=total, status="compiling")
        self.bar.start()

    def end(self) -> None:
        self.bar.stop()

    def note(self, message: str) -> None:
        self.console.print(message)

    def round(self, rows: list[dict[str, Any]], config: Config) -> None:
        self.latest |= {row["seed"]: row for row in rows}
        steps = sum(row["step"] for row in self.latest.values())
        updates = sum(row.get("updates", 0) for row in self.latest.values())
        now = time.monotonic()
        rate = ""
        if self.seen:
            seconds = max(now - self.seen[0], 1e-9)
            new_steps, new_updates = steps - self.seen[1], updates - self.seen[2]
            rate = f"{new_steps / seconds:,.0f} steps/s {new_updates / seconds:,.0f} updates/s"
        self.seen = (now, steps, updates)
        gaps = [row["gap"] for row in rows if "gap" in row]
        gap = f" gap {sum(gaps) / len(gaps):.3g}" if gaps else ""
        for row in rows:
            if "eval/kept" in row:
                alike = f" likeness {row['likeness/kept']:.2f}" if "likeness/kept" in row else ""
                self.evaluation = f" return {row['eval/kept']:.0f}{alike}"
                self.note(
                    f"step {row['step']:>9,}  seed {row['seed']}  kept {row['eval/kept']:7.1f}  "
                    f"current {row['eval/current']:7.1f} {alike:14}{gap:14}  {row['seconds']:7.0f} s"
                )
        self.bar.update(self.task, completed=steps, status=f"{rate}{gap}{self.evaluation}")
