"""How a dataclass of the configuration checks its own fields: choices, finite numbers, ranges."""

import dataclasses
import math
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from sfm.errors import SfmError, unknown


class Range(NamedTuple):
    """What a number must be, for a type with it as annotation."""

    words: str
    """As the rest of a sentence that begins with "must"."""
    holds: Callable[[Any], bool]


POSITIVE = Range("be positive", lambda value: value > 0)
NOT_NEGATIVE = Range("not be negative", lambda value: value >= 0)

AtLeastOne = Annotated[int, Range("be at least 1", lambda value: value >= 1)]
NotNegativeInt = Annotated[int, NOT_NEGATIVE]
Positive = Annotated[float, POSITIVE]
PositiveOrNone = Annotated[float | None, POSITIVE]
NotNegative = Annotated[float, NOT_NEGATIVE]
NotNegativeOrNone = Annotated[float | None, NOT_NEGATIVE]
Share = Annotated[float, Range("lie in [0, 1]", lambda value: 0 <= value <= 1)]
BelowOne = Annotated[float, Range("lie in [0, 1)", lambda value: 0 <= value < 1)]


def check(part: Any, place: str = "") -> None:
    """An error unless each field is one of its choices, or a finite number in its range.

    `place` is the dotted name that `part` has in a run's configuration.
    """
    for f in dataclasses.fields(part):
        value, name = getattr(part, f.name), f"{place}.{f.name}".removeprefix(".")
        choices = typing.get_args(f.type) if typing.get_origin(f.type) is Literal else None
        if choices and value not in choices:
            raise unknown(f"{type(part).__name__}.{f.name}", str(value), map(str, choices))
        finite = not isinstance(value, float) or math.isfinite(value)
        require(finite, f"{name} must be a finite number, not {value}")
        for limit in getattr(f.type, "__metadata__", ()):
            require(value is None or limit.holds(value), f"{name} must {limit.words}, not {value}")


def require(holds: bool, message: str) -> None:
    if not holds:
        raise SfmError(f"bad configuration: {message}.")
