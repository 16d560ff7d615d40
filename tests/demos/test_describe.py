"""Demonstrations in words and numbers."""

from sfm.demos import describe
from tests.demos.samples import demos


def test_summary_and_table():
    given = demos()
    assert describe.summary(given) == (
        "3 demonstrations of 2 to 7 (median 4) steps, states of 3 dimensions, actions of 2 dimensions"
    )
    one = demos((4,), action_dim=None)
    assert describe.summary(one) == "1 demonstration of 4 steps, states of 3 dimensions, no actions"
    assert describe.table(given).row_count == 5
    assert describe.table(demos((1,))).row_count == 5  # a single action has no change


def test_dimensions_have_the_names_of_the_environment_where_there_are_as_many():
    some = demos()
    assert describe.labels(some) == (["state 0", "state 1", "state 2"], ["action 0", "action 1"])
    names = ("x", "y", "z"), ("one of three",)
    assert describe.labels(some, names) == (["state 0 x", "state 1 y", "state 2 z"], ["action 0", "action 1"])
