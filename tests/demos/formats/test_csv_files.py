"""Tables of numbers in text: every layout, and what is none."""

import re

import pytest

from sfm.demos import Demos, load
from sfm.errors import SfmError
from tests.demos.samples import assert_equal


@pytest.mark.parametrize(
    ("text", "states", "actions"),
    [
        ("1,2\n3,4\n", [[[1, 2], [3, 4]]], None),
        ("1 2\n3 4\n\n5 6", [[[1, 2], [3, 4], [5, 6]]], None),
        ("\ufeffx;y\r\n1;2\r\n3;4\r\n", [[[1, 2], [3, 4]]], None),
        ('"x","y"\n"1","2"\n"3","4"\n', [[[1, 2], [3, 4]]], None),
        ("episode,x\n7,1\n7,2\n3,3\n3,4\n3,5\n", [[[1], [2]], [[3], [4], [5]]], None),
        ("x\taction_0\tstep\n1\t.5\t0\n2\tnan\t1\n", [[[1], [2]]], [[[0.5]]]),
        ("Action[0],Episode,act1,active\n.5,0,1,9\n0,0,0,8\n", [[[9], [8]]], [[[0.5, 1]]]),
    ],
)
def test_csv_layouts(tmp_path, text, states, actions):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert_equal(load(tmp_path / "x.csv"), Demos.from_list(states, actions))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "its first line is empty"),
        ("x,y\n", "there are no demonstrations"),
        ("x,y\n1,2\n", "needs at least 2 states"),
        ("x,y\n1,2\n3\n", "not a table of numbers"),
        ("x,y\n1,2\n3,\n", "not a table of numbers"),
        ("x,y\n1,2\n3,four\n", "not a table of numbers"),
        ("x,y\n1,2,3\n4,5,6\n", "a row has 3 columns, the first line 2"),
        ("x,x\n1,2\n3,4\n", "neither numbers nor a header"),
        ("x,1\n1,2\n3,4\n", "neither numbers nor a header"),
        ("action_0\n1\n2\n", "some state columns"),
        ("episode,x\n0,1\n0,2\n1,3\n1,4\n0,5\n0,6\n", "the rows of episode 0 are not together"),
        ("episode,x\nnan,1\nnan,2\n", "the episode column has gaps"),
        ("1\n1e40\n", "too large for float32"),
        ("1\ninf\n", "is infinite in state 1"),
        ("1\n\0\n", "not a table of numbers"),
    ],
)
def test_bad_csv(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(SfmError, match=re.escape(message)) as info:
        load(tmp_path / "x.csv")
    assert str(tmp_path / "x.csv") in str(info.value)
