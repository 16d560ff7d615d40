"""How a finding reads."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

__all__ = ["Finding", "error", "listed", "warning"]


class Finding(NamedTuple):
    """Something wrong: training would fail or mislead (error), or may suffer (warning)."""

    severity: Literal["error", "warning"]
    what: str
    advice: str


def error(what: str, advice: str) -> Finding:
    return Finding("error", what, advice)


def warning(what: str, advice: str) -> Finding:
    return Finding("warning", what, advice)


def listed(noun: str, numbers: Sequence[int] | np.ndarray) -> str:
    """«dimension 3» or «dimensions 3, 4, 7 (and 5 more)»."""
    shown = ", ".join(str(int(number)) for number in numbers[:6])
    more = f" (and {len(numbers) - 6} more)" if len(numbers) > 6 else ""
    return f"{noun}{'s' if len(numbers) > 1 else ''} {shown}{more}"
