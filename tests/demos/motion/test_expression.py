"""Expressions of a mapping: arithmetic, and nothing else."""

import numpy as np
import pytest

from sfm.demos.motion import expression
from sfm.errors import SfmError

NAMES = {"a": np.array([1.0, 2.0]), "b": np.array([10.0, 20.0])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [1, 2]),
        ("a + b", [11, 22]),
        ("b - 2 * a", [8, 16]),
        ("-(a - 1) / 4", [0, -0.25]),
        ("+a*b", [10, 40]),
        ("3", 3),
        (" 1e1 ", 10),
    ],
)
def test_arithmetic(text, expected):
    np.testing.assert_allclose(expression.value(text, NAMES), expected)


@pytest.mark.parametrize(
    "text",
    [
        "", "a +", "a ** 2", "abs(a)", "a.real", "a[0]", "a if a else b", "True", "'a'", "a; b",
        "a = b", "lambda: a", "__import__('os')", "a and b", "a < b", "a @ b", "a // b", "1j",
        "(" * 200, "-" * 1000 + "a", "a\0",
    ],
)  # fmt: skip
def test_all_else_is_refused_in_one_line(text):
    with pytest.raises(SfmError, match="is not understood: only names, numbers") as info:
        expression.value(text, NAMES)
    assert "\n" not in str(info.value)


def test_an_unknown_name_is_told_with_its_neighbour():
    with pytest.raises(SfmError, match="unknown name in the clip 'hip_flex': did you mean hip_flexion"):
        expression.value("2 * hip_flex", {"hip_flexion": NAMES["a"]})


def test_names():
    assert expression.names("a + 2 * b - a") == {"a", "b"}
