"""Who is told how a run goes."""

from pathlib import Path
from typing import Any, Protocol

from sfm.config import Config


class Reporter(Protocol):
    """Is told notes at any time, and rounds between the beginning and the end of training."""

    def begin(self, folder: Path, config: Config) -> None:
        pass

    def note(self, message: str) -> None:
        pass

    def round(self, rows: list[dict[str, Any]], config: Config) -> None:
        pass

    def end(self) -> None:
        pass


class Silent(Reporter):
    """Does nothing with what it is told."""
