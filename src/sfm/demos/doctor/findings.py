"""How a finding reads."""

import functools
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Finding(NamedTuple):
    """Something wrong: training would fail or mislead (error), or may suffer (warning)."""

    severity: Literal["error", "warning"]
    what: str
    advice: str


error, warning = functools.partial(Finding, "error"), functools.partial(Finding, "warning")


def listed(noun: str, which: ArrayLike, names: Sequence[str] = ()) -> str:
    """«dimension 3» or «dimensions 3, 4, 7 (and 5 more)», of numbers or of what a mask [n] marks.

    With `names` [n] they stand beside the numbers: «dimension 3 (velocity/knee)».
    """
    numbers = np.asarray(which)
    numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers
    shown = ", ".join(called(int(number), names) for number in numbers[:6])
    more = f" (and {len(numbers) - 6} more)" if len(numbers) > 6 else ""
    return f"{noun}{'s' if len(numbers) > 1 else ''} {shown}{more}"


def called(number: int, names: Sequence[str]) -> str:
    """«3 (velocity/knee)», or «3» where the name says no more than that."""
    name = names[number] if names else ""
    return str(number) if name in ("", f"obs[{number}]", f"action[{number}]") else f"{number} ({name})"
