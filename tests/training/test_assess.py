"""Which policy is kept, and how much is trained: the schedule of the specification, episode by episode."""

import numpy as np
import pytest

from sfm.config import ScheduleConfig
from sfm.training.assess import Assessment, assess

PAPER = ScheduleConfig()  # random until 10,000, assessed from 75,000 on
LATE = 100_000


def late(best=-1.0, settled=True, **changes):
    return Assessment(best=best, settled=settled), ScheduleConfig(**changes)


def test_by_step_74_999_the_paper_has_made_65_000_updates():
    state, updates, bursts, rng = Assessment(), 0, [], np.random.default_rng(0)
    for now in range(1000, 80_001, 1000):
        if now <= PAPER.random_steps:
            continue
        score = -rng.uniform(0, 10)
        state, verdict = assess(state, [score], 1000, now, PAPER)
        updates += verdict.train
        if verdict.train:
            bursts.append(now)
        if now <= 75_000:
            assert verdict == (True, 1000)
            assert state.best == score  # the policy assessed last
        if now == 75_000:
            assert updates == 65_000
    assert bursts[0] == 11_000
    assert len([b for b in bursts if b <= 75_000]) == 65


def test_early_on_the_latest_policy_is_kept_even_if_it_is_worse():
    state, verdict = assess(Assessment(best=-1.0), [-5.0], 1000, 20_000, PAPER)
    assert verdict == (True, 1000)
    assert state == Assessment(best=-5.0)


def test_after_the_early_phase_three_good_episodes_make_a_checkpoint():
    state, config = late()
    for scores_so_far, score in enumerate((-0.5, -0.2)):
        state, verdict = assess(state, [score], 1000, LATE, config)
        assert verdict == (False, 0)
        assert len(state.scores) == scores_so_far + 1
    state, verdict = assess(state, [-0.9], 1000, LATE, config)
    assert verdict == (True, 3000)
    assert state == Assessment(best=-0.9, settled=True)  # judged by its worst


@pytest.mark.parametrize("good", [0, 1, 2])
def test_one_bad_episode_rejects_at_once_and_all_steps_are_trained_on(good):
    state, config = late()
    for _ in range(good):
        state, _ = assess(state, [-0.5], 1000, LATE, config)
    state, verdict = assess(state, [-1.1], 1000, LATE, config)
    assert verdict == (False, 1000 * (good + 1))
    assert state == Assessment(best=-1.0, settled=True)


def test_an_equal_score_is_not_a_rejection():
    state, verdict = assess(*late()[:1], [-1.0], 1000, LATE, ScheduleConfig())
    assert verdict == (False, 0)
    assert state.scores == (-1.0,)


@pytest.mark.parametrize(("best", "lowered"), [(-10.0, -11.0), (11.0, 10.0), (0.0, 0.0)])
def test_until_a_policy_has_passed_the_bar_is_lower_whatever_its_sign(best, lowered):
    state, config = late(best, settled=False)
    for now in (75_001, 76_001):
        state, verdict = assess(state, [lowered - 1], 1000, now, config)
        assert (state, verdict.keep) == (Assessment(best), False)
    for now in (77_001, 78_001, 79_001):
        state, verdict = assess(state, [lowered], 1000, now, config)
    assert (state, verdict.keep) == (Assessment(lowered, settled=True), True)
    assert assess(state, [lowered - 1e-3], 1000, 80_001, config)[1] == (False, 1000)


def test_at_the_boundary_the_phase_is_still_early():
    assert assess(Assessment(best=0.0), [-9.0], 1000, 75_000, PAPER)[1].keep
    assert not assess(Assessment(best=0.0), [-9.0], 1000, 75_001, PAPER)[1].keep


def test_several_environments_bring_several_scores_at_once():
    state, config = late()
    assert assess(state, [-0.5, -0.6, -0.7, -0.8], 4000, LATE, config)[1] == (True, 4000)
    assert assess(state, [-0.5, -0.6, -0.7, -1.8], 4000, LATE, config)[1] == (False, 4000)
    state, verdict = assess(state, [-0.5, -0.6], 2000, LATE, config)
    assert verdict == (False, 0)
    state, verdict = assess(state, [-0.5, -0.8], 2000, LATE, config)
    assert verdict == (True, 4000)
    assert state.best == -0.8


def test_judged_by_the_mean_a_single_bad_episode_may_pass():
    state, config = late(assess_by="mean")
    state, verdict = assess(state, [-0.1, -1.2, -0.2], 3000, LATE, config)
    assert verdict == (True, 3000)
    assert state.best == pytest.approx(-0.5)
