"""Whether measured ratios keep within the bounds of a baseline.

A baseline is a JSON file; a ratio is called as in the suite's JSON, part/subject/figure:

    {"about": "...", "ratios": {
        "updates/sfm-td3-cpu/achieved_over_gemm": {"at_least": 0.5, "tolerance": 0.1},
        "seeds/sfm-td3-cpu/together_over_apart": {"at_most": 0.8, "tolerance": 0.1}}}

A ratio fails where it is worse than expected by more than `tolerance`, a share of what was expected: here
below a floor of 0.45, or above a ceiling of 0.88.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sfm import storage
from sfm.errors import SfmError

__all__ = ["BASELINE", "Bound", "bounds", "failures", "is_ratio"]

BASELINE = Path(__file__).with_name("baseline.json")


class Bound(NamedTuple):
    """What is expected of a ratio, in one direction."""

    at_least: float | None = None
    at_most: float | None = None
    tolerance: float = 0.0

    def failure(self, ratio: float) -> str | None:
        """What is wrong with the ratio; NaN always is."""
        if self.at_least is not None:
            floor = self.at_least * (1 - self.tolerance)
            return None if ratio >= floor else f"{ratio:.3g} is below its floor of {floor:.3g}"
        assert self.at_most is not None
        ceiling = self.at_most * (1 + self.tolerance)
        return None if ratio <= ceiling else f"{ratio:.3g} is above its ceiling of {ceiling:.3g}"


def is_ratio(name: str) -> bool:
    """Whether a figure is called like a ratio, which machines may share, and not like an absolute speed."""
    return "_over_" in name


def bounds(path: Path = BASELINE) -> dict[str, Bound]:
    """Of each ratio of a baseline file."""
    try:
        read = {name: Bound(**entry) for name, entry in storage.read_json(path)["ratios"].items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise SfmError(f"{path} is not a baseline: {error}") from error
    for name, bound in read.items():
        if not is_ratio(name):
            raise SfmError(f"{path}: '{name}' is not a ratio")
        if (bound.at_least is None) == (bound.at_most is None):
            raise SfmError(f"{path}: '{name}' needs at_least or at_most")
    return read


def failures(expected: Mapping[str, Bound], ratios: Mapping[str, float], *, whole: bool = True) -> list[str]:
    """A line per ratio out of its bounds or, where the `whole` suite was to run, not measured."""
    missing = "was not measured" if whole else None
    found = {name: b.failure(ratios[name]) if name in ratios else missing for name, b in expected.items()}
    return [f"{name} {failure}" for name, failure in found.items() if failure]
