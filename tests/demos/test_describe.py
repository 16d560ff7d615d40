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
