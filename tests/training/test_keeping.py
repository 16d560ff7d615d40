"""Which policy is kept: the latest average, one that has passed an assessment, or the best validated one."""

import numpy as np
import pytest

from sfm.config import ScheduleConfig
from sfm.training.assess import Assessment, Verdict
from sfm.training.clock import SeedProgress
from sfm.training.keeping import Played, Policies, Validated, decide

SCHEDULE = ScheduleConfig(assess_after=100, assess_episodes=2)


def weights(*values: float) -> dict[str, np.ndarray]:
    return {"w": np.array(values, np.float32)}


def test_without_evidence_the_latest_is_kept():
    state = Assessment(best=5.0, scores=(1.0,), steps=7)
    assert decide(state, None, 500, SCHEDULE) == (state, Verdict(True, 0))


def test_what_has_played_must_pass_the_assessment():
    state, verdict = decide(Assessment(best=-1.0, settled=True), Played([-0.5], 20), 200, SCHEDULE)
    assert verdict == (False, 0)  # so far
    state, verdict = decide(state, Played([-0.7], 20), 220, SCHEDULE)
    assert verdict == (True, 40)
    assert state == Assessment(best=-0.7, settled=True)


def test_of_validated_policies_the_best_is_kept_and_the_time_since_then_counted():
    state, kept = Assessment(), []
    for loss in (0.9, 0.5, 0.7, 0.6, 0.5):
        state, verdict = decide(state, Validated(loss, 10), 0, SCHEDULE)
        kept.append((verdict.keep, state.best, state.steps))
        assert verdict.train == 0
    assert kept == [(True, -0.9, 0), (True, -0.5, 0), (False, -0.5, 10), (False, -0.5, 20), (True, -0.5, 0)]


def test_a_kept_policy_stays_until_another_is_kept():
    policies, p = Policies(SCHEDULE, [weights(0), weights(1)]), SeedProgress(4, steps=500, updates=30)
    policies.learned([weights(2), weights(3)], [10, 10], [p, p])
    assert not policies.judge(1, p, Played([-1.0], 20)).keep
    assert policies.kept[1]["w"] == 1
    assert (p.kept_steps, p.kept_updates, p.assessment.scores) == (0, 0, (-1.0,))
    assert policies.judge(1, p, Played([-1.0], 20)).keep
    assert policies.kept[1] is policies.average[1] is policies.current[1]
    assert policies.kept[0]["w"] == 0  # of the other seed
    assert (p.kept_steps, p.kept_updates) == (500, 30)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_what_may_be_kept_is_an_average_of_the_weights(share):
    """What is older counts exp(-n / 20), or more by a share of all updates."""
    policies = Policies(
        ScheduleConfig(assess_after=10**9, average_updates=20, average_share=share), [weights(1, 5)]
    )
    p, want = SeedProgress(0), np.array([1.0, 5.0])
    for made, new in ((10, (2, 0)), (40, (3, -5)), (0, (3, -5)), (150, (4, 7))):
        p.updates += made
        policies.learned([weights(*new)], [made], [p])
        old = np.exp(-made / max(20, share * p.updates))
        want = old * want + (1 - old) * np.array(new)
        np.testing.assert_allclose(policies.average[0]["w"], want, rtol=1e-6)
        np.testing.assert_array_equal(policies.current[0]["w"], new)
    assert (want[1] < 6.9) == bool(share)  # the share decides in the end
    policies.judge(0, p)
    assert policies.kept[0] is policies.average[0]
    assert policies.average[0]["w"].dtype == np.float32


def test_a_new_beginning_replaces_all():
    policies = Policies(SCHEDULE, [weights(0)])
    policies.begin([weights(1)])
    assert policies.current[0] is policies.average[0] is policies.kept[0]
    assert policies.kept[0]["w"] == 1


def test_of_evaluated_averages_the_most_alike_is_kept():
    """However alike the policy itself is. The row says of the kept policy what was measured of that one, and
    never NaN nor a worse one's."""
    policies, p = Policies(SCHEDULE, [weights(0)]), SeedProgress(0)
    averages = (np.nan, 0.4, 0.3, np.nan, 0.6)
    kept, told = [], []
    for k, average in enumerate(averages, 1):
        row = {"step": 10 * k, "updates": k, "eval/kept": 100.0 * k, "likeness/kept": average}
        row |= {"eval/current": 100.0 * k + 1, "likeness/current": 0.9}
        row = policies.liken(0, p, weights(k), row)
        kept.append((policies.kept[0]["w"].item(), p.kept_steps, p.kept_updates))
        told.append((row["eval/kept"], row["eval/average"], row["eval/current"]))
    assert kept == [(0, 0, 0), (2, 20, 2), (2, 20, 2), (2, 20, 2), (5, 50, 5)]
    assert told == [
        (100.0, 100.0, 101.0),
        (200.0, 200.0, 201.0),
        (200.0, 300.0, 301.0),
        (200.0, 400.0, 401.0),
        (500.0, 500.0, 501.0),
    ]
