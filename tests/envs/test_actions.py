"""Between [-1, 1] and the actuators' range, there and back."""

import numpy as np
import pytest

from sfm.envs.actions import ActionScale

SCALE = ActionScale(np.float32([-2, 0, 5]), np.float32([2, 10, 5]))  # the last knows one value alone


@pytest.mark.parametrize(
    ("action", "control"),
    [
        (-1, [-2, 0, 5]),
        (0, [0, 5, 5]),
        (0.5, [1, 7.5, 5]),
        (1, [2, 10, 5]),
        (9, [2, 10, 5]),
        (-9, [-2, 0, 5]),
    ],
)
def test_ends_middle_and_beyond(action, control):
    np.testing.assert_array_equal(SCALE.to_actuators(np.full((4, 3), action)), np.tile(control, (4, 1)))


def test_back_again():
    action = np.random.default_rng(0).uniform(-1, 1, (100, 3)) * [1, 1, 0]
    np.testing.assert_allclose(SCALE.to_unit(SCALE.to_actuators(action)), action, atol=1e-15)
    np.testing.assert_array_equal(SCALE.to_unit(np.array([4.0, -5.0, 5.0])), [2, -2, 0])  # not clipped


def test_one_range_for_all_and_the_type_asked_for():
    scale, action = ActionScale(-1.0, 1.0, np.float32), np.linspace(-1, 1, 7, dtype=np.float32)
    np.testing.assert_array_equal(scale.to_actuators(action), action, strict=True)
    assert SCALE.to_actuators(action[:3]).dtype == np.float64


def test_rounding_never_leaves_the_range():
    low, high = np.random.default_rng(0).uniform(-1, 1, (2, 10_000))
    low, high = np.minimum(low, high), np.maximum(low, high)
    for dtype in (np.float32, np.float64):
        control = ActionScale(low, high, dtype).to_actuators(np.ones(10_000, dtype))
        assert (control <= high.astype(dtype)).all()
