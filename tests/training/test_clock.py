"""What is due when: with 40 steps a round, evaluations every 100 and a budget of 400."""

import dataclasses

import pytest

from sfm.config import ScheduleConfig
from sfm.training.assess import Assessment
from sfm.training.clock import Clock, SeedProgress

SCHEDULE = ScheduleConfig(
    steps=400,
    random_steps=80,
    updates_per_step=0.5,
    chunk=10,
    assess_after=400,
    actor_start_update=30,
    eval_every=100,
)
CLOCK = Clock(SCHEDULE, longest=40)


def at(**progress) -> SeedProgress:
    return SeedProgress(seed=3, **progress)


def test_asking_changes_nothing():
    p = at(steps=160, collected=160, owed=25.0, round_steps=40)
    before = dataclasses.asdict(p)
    answers = []
    for _ in range(2):
        answers.append([
            CLOCK.running(p), CLOCK.acts_at_random(p), CLOCK.earned(p, 40), CLOCK.update_due(p),
            CLOCK.actor_rests(p), CLOCK.refresh_due(p), CLOCK.round_end(p), CLOCK.evaluation_due(p, 200),
            CLOCK.evaluation_due_beside_round(p), CLOCK.evaluation_due_after_round(p),
        ])  # fmt: skip
        assert dataclasses.asdict(p) == before
    assert answers[0] == answers[1] == [True, False, 20.0, True, True, True, 200, True, True, True]


def test_a_seed_runs_until_its_steps_are_used_up_or_patience_ends():
    assert CLOCK.running(at(steps=399))
    assert not CLOCK.running(at(steps=400))
    patient = dataclasses.replace(CLOCK, patience=30)
    assert patient.running(at(assessment=Assessment(steps=29)))
    assert not patient.running(at(assessment=Assessment(steps=30)))


def test_random_steps_earn_no_updates_and_others_a_share():
    assert CLOCK.acts_at_random(at(collected=79))
    assert CLOCK.earned(at(collected=79), 40) == 0
    assert not CLOCK.acts_at_random(at(collected=80))
    assert CLOCK.earned(at(collected=80), 40) == 20


def test_where_policies_are_assessed_the_verdict_says_what_is_earned():
    assessed = dataclasses.replace(CLOCK, schedule=dataclasses.replace(SCHEDULE, assess_after=399))
    assert assessed.earned(at(collected=200), 40) == 0


@pytest.mark.parametrize(("owed", "due"), [(9.9, False), (10.0, True)])
def test_updates_come_in_whole_chunks(owed, due):
    assert CLOCK.update_due(at(owed=owed)) == due


def test_the_actor_rests_at_first():
    assert [CLOCK.actor_rests(at(updates=n)) for n in (0, 29, 30)] == [True, True, False]


def test_a_refresh_is_due_at_its_step():
    assert [CLOCK.refresh_due(at(steps=n, next_refresh=100)) for n in (99, 100, 260)] == [False, True, True]


def test_a_round_is_expected_to_be_as_long_as_the_last():
    assert CLOCK.round_end(at()) == 40
    assert CLOCK.round_end(at(steps=60, round_steps=25)) == 85


def evaluations(rounds: list[int]) -> list[tuple[int, str]]:
    """The steps of the policies that are evaluated in a run with so many steps in its rounds, and when."""
    p, found = at(), []
    for steps in rounds:
        if CLOCK.evaluation_due_beside_round(p):
            found.append((p.steps, "beside"))
            p.evaluated_at, p.evaluated_for = p.steps, CLOCK.round_end(p)
        p.steps, p.round_steps = p.steps + steps, steps
        if CLOCK.evaluation_due_after_round(p):
            found.append((p.steps, "after"))
            p.evaluated_at, p.evaluated_for = p.steps, p.steps
    return found


def test_evaluations_go_on_beside_the_round_in_which_they_are_due_but_the_last():
    want = [(80, "beside"), (160, "beside"), (280, "beside"), (400, "after")]
    assert evaluations(10 * [40]) == want


def test_a_round_that_is_longer_than_expected_is_made_up_for_after_it():
    assert evaluations([40, 10, 60, 60]) == [(110, "after")]


def test_an_evaluation_that_came_too_early_is_not_repeated():
    assert evaluations([40, 40, 10, 20]) == [(80, "beside")]
