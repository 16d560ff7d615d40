"""Observations of Gymnasium's spaces as vectors."""

from collections import OrderedDict

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, MultiBinary

from sfm.envs import spaces
from sfm.errors import SfmError

HAND = Dict({"angle": Box(-1, 2, ()), "joints": Box(-3, 3, (2, 2))})
SPACE = Dict(OrderedDict(speed=Box(-np.inf, np.inf, (2,)), hand=HAND, on=MultiBinary(2)))
OBS = {"on": [1, 0], "hand": {"joints": [[4, 5], [6, 7]], "angle": 3.0}, "speed": np.array([1.0, 2.0])}


def test_a_dict_is_flattened_in_the_order_of_its_space_whatever_the_order_of_what_is_given():
    shape = spaces.obs_shape(SPACE, "own")
    assert list(shape) == ["speed", "hand", "on"]
    assert shape["hand"] == {"angle": [], "joints": [2, 2]}
    assert spaces.size(shape) == 9
    flat = spaces.flatten(shape, OBS)
    assert flat.dtype == np.float32
    assert flat.tolist() == [1, 2, 3, 4, 5, 6, 7, 1, 0]


def test_each_number_has_the_name_of_its_keys_and_the_bounds_of_its_part():
    found = list(spaces.signals(SPACE))
    assert [signal.name for signal in found] == [
        *("speed[0]", "speed[1]", "hand/angle"),
        *("hand/joints[0][0]", "hand/joints[0][1]", "hand/joints[1][0]", "hand/joints[1][1]"),
        *("on[0]", "on[1]"),
    ]
    assert [(signal.low, signal.high) for signal in found[1:4]] == [(-np.inf, np.inf), (-1, 2), (-3, 3)]
    assert (found[-1].low, found[-1].high) == (0, 1)


def test_a_batch_is_told_from_one_observation():
    shape = spaces.obs_shape(SPACE, "own")
    assert spaces.batch_of(shape, OBS) == ()
    many = {
        "on": np.zeros((5, 2)),
        "hand": {"joints": np.ones((5, 2, 2)), "angle": np.arange(5)},
        "speed": np.zeros((5, 2)),
    }
    assert spaces.batch_of(shape, many) == (5,)
    flat = spaces.flatten(shape, many, (5,))
    assert flat.shape == (5, 9)
    assert flat[:, 2].tolist() == [0, 1, 2, 3, 4]
    assert flat[3, 3:7].tolist() == [1, 1, 1, 1]


def test_what_does_not_fit_the_space_says_where():
    shape = spaces.obs_shape(SPACE, "own")
    for odd, message in (
        (
            {**OBS, "hand": {"angle": 1.0}},
            "observation 'hand' must have the keys angle, joints; it has angle",
        ),
        ({**OBS, "speed": [1, 2, 3]}, r"observation 'speed' has shape \[3\], expected \[2\]"),
        ([1, 2], "must have the keys speed, hand, on; it has list"),
        (np.zeros(7), r"must have the keys speed, hand, on; it has the shape \[7\]"),
    ):
        with pytest.raises(SfmError, match=message):
            spaces.flatten(shape, odd)
    with pytest.raises(SfmError, match="must have the keys"):
        spaces.batch_of(shape, 3)
