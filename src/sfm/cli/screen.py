"""Tables on a terminal of any width."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def whole(console: "Console", table: "Table") -> None:
    """Prints a table; where the terminal is narrow, lines go on in the next, for no name or number is cut."""
    from rich.measure import Measurement

    needed = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    before, console.width = console.width, max(console.width, needed)
    console.print(table, crop=False, soft_wrap=True)
    console.width = before
