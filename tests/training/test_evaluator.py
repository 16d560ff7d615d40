"""Evaluations judge the policies of their beginning, in environments of their own, from the same starts."""

import threading
from dataclasses import replace

import numpy as np

from sfm.config import ScheduleConfig
from sfm.envs import make
from sfm.training.clock import Clock, SeedProgress
from sfm.training.evaluator import Evaluator
from sfm.training.keeping import Policies

SCHEDULE = ScheduleConfig(envs=2, eval_episodes=3)


class Constant:
    def __init__(self, action: float):
        self.action, self.calls, self.thread = action, 0, None

    def __call__(self, obs, noise):
        assert noise is None
        self.calls += 1
        self.thread = threading.get_ident()
        return np.full((len(obs), 1), self.action, np.float32)


def evaluator(demos=None, schedule=SCHEDULE) -> tuple[Evaluator, list]:
    made = []

    def make_env():
        made.append(make("probe_point"))
        return made[-1]

    return Evaluator(Clock(schedule, 40), make_env, demos), made


def judging(judge: Evaluator, due, progress, policies):
    return judge.judging(judge.jobs(due, progress, policies), progress, policies)


def test_a_row_tells_the_policies_of_the_beginning():
    judge, _ = evaluator()
    first = [Constant(0.1), Constant(0.2)]
    policies = Policies(SCHEDULE, first)
    policies.current[1], policies.average[1] = Constant(-0.3), Constant(-0.4)
    want = [judge.returns(8, policy).mean() for policy in (policies.current[1], first[1])]
    progress = [SeedProgress(7), SeedProgress(8, steps=50, seconds=1.23456, updates=20)]
    with judging(judge, [1], progress, policies) as rows:
        policies.begin([Constant(0.9), Constant(0.9)])  # the round goes on, and policies learn
        progress[1].steps, progress[1].updates, progress[1].seconds = 90, 60, 9.0
    told = {"step": 50, "seed": 8, "updates": 20, "seconds": 1.235}
    assert rows == [told | {"eval/current": want[0], "eval/kept": want[1]}]
    assert want[0] != want[1]
    assert first[0].calls == 0


def test_it_has_environments_and_a_thread_of_its_own():
    judge, made = evaluator()
    policy = Constant(0.0)
    assert not made  # a run without evaluations needs none
    for _ in range(2):
        with judging(judge, [0], [SeedProgress(0)], Policies(SCHEDULE, [policy])):
            pass
    assert made == judge.eval_envs
    assert len(made) == 2
    assert policy.thread != threading.get_ident()


def test_a_kept_policy_that_is_the_current_one_is_played_once():
    judge, _ = evaluator()
    policy = Constant(0.0)
    with judging(judge, [0], [SeedProgress(0)], Policies(SCHEDULE, [policy])) as rows:
        pass
    assert policy.calls == 40  # of 20 steps: two episodes at once, and the third
    assert rows[0]["eval/current"] == rows[0]["eval/kept"]


def test_policies_are_likened_to_the_demonstrations_where_there_are_some(point_demos):
    """Those go to 0.5; the judge measures by the same random actions whatever it has judged before."""
    progress = [SeedProgress(0)]

    def to_half(obs, noise):
        return np.clip((0.5 - obs) / 0.2, -1, 1)

    rows = []
    for policies in (Policies(SCHEDULE, [to_half]), Policies(SCHEDULE, [Constant(-1.0)])):
        policies.current[0] = Constant(0.0)
        with judging(evaluator(point_demos)[0], [0], progress, policies) as judged:
            pass
        rows += judged
    assert rows[0]["likeness/kept"] > 0.8
    assert rows[0]["likeness/current"] < 0.5
    assert rows[1]["likeness/current"] == rows[0]["likeness/current"]
    assert rows[1]["likeness/kept"] < rows[0]["likeness/kept"]


def test_starts_are_those_of_the_seed():
    judge, _ = evaluator()
    policy = Constant(0.0)
    assert len(set(judge.returns(0, policy))) == 3
    np.testing.assert_array_equal(judge.returns(0, policy), judge.returns(0, policy))
    assert not np.array_equal(judge.returns(0, policy), judge.returns(1, policy))


def test_what_is_cancelled_ends_after_an_episode_and_has_no_row():
    judge, _ = evaluator()

    class Impatient(Constant):
        def __call__(self, obs, noise):
            judge.cancel()
            return super().__call__(obs, noise)

    policy = Impatient(0.0)
    with judging(judge, [0], [SeedProgress(0)], Policies(SCHEDULE, [policy])) as rows:
        pass
    assert not rows
    assert policy.calls == 20  # of the three, the two that are played at once


def test_late_in_a_run_the_policy_most_like_the_demonstrations_is_kept(point_demos):
    """For its likeness, not its return; what is said of the kept policy stays true."""
    schedule = replace(SCHEDULE, likeness_from=0.5, steps=100)
    judge, _ = evaluator(point_demos, schedule)
    policies, p = Policies(schedule, [Constant(-1.0)]), SeedProgress(0, updates=5)
    rows, tried = [], {20: 1.0, 50: 0.2, 70: 0.9, 90: -0.5}  # by step: what the average does
    for p.steps, action in tried.items():
        policies.average = [Constant(action)]
        with judging(judge, [0], [p], policies) as told:
            p.updates += 10
            policies.judge(0, p)  # as each round does: the latest is kept until one is chosen
        rows += told
    assert judge.likeness
    measured = [judge.episodes(0, Constant(action)) for action in tried.values()]
    alike = [judge.likeness(played.states) for played in measured]
    assert alike[2] > max(alike[1], alike[3])
    assert policies.kept[0].action == 0.9
    assert (p.kept_steps, p.kept_updates) == (70, 25)
    assert [row["likeness/kept"] for row in rows[1:]] == [alike[1], alike[2], alike[2]]
    assert [row["likeness/average"] for row in rows[1:]] == alike[1:]
    assert [row["eval/average"] for row in rows[1:]] == [played.returns.mean() for played in measured[1:]]
    assert rows[3]["eval/kept"] == rows[2]["eval/kept"] != rows[3]["eval/average"]
    assert "eval/average" not in rows[0]
