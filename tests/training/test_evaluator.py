"""Evaluations judge the policies of their beginning, in environments of their own, from the same starts."""

import threading

import numpy as np

from sfm.config import ScheduleConfig
from sfm.envs import make
from sfm.training.clock import SeedProgress
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


def evaluator() -> tuple[Evaluator, list]:
    made = []

    def make_env():
        made.append(make("probe_point"))
        return made[-1]

    return Evaluator(SCHEDULE, make_env), made


def test_a_row_tells_the_policies_of_the_beginning():
    judge, _ = evaluator()
    first = [Constant(0.1), Constant(0.2)]
    policies = Policies(SCHEDULE, first)
    policies.current[1], policies.average[1] = Constant(-0.3), Constant(-0.4)
    want = [judge.returns(8, policy).mean() for policy in (policies.current[1], first[1])]
    progress = [SeedProgress(7), SeedProgress(8, steps=50, seconds=1.23456, updates=20)]
    jobs = [Evaluator.job(progress[1], policies.current[1], policies.kept[1])]
    with judge.judging(jobs) as rows:
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
        with judge.judging([Evaluator.job(SeedProgress(0), policy, policy)]):
            pass
    assert made == judge.eval_envs
    assert len(made) == 2
    assert policy.thread != threading.get_ident()


def test_a_kept_policy_that_is_the_current_one_is_played_once():
    judge, _ = evaluator()
    policy = Constant(0.0)
    with judge.judging([Evaluator.job(SeedProgress(0), policy, policy)]) as rows:
        pass
    assert policy.calls == 40  # of 20 steps: two episodes at once, and the third
    assert rows[0]["eval/current"] == rows[0]["eval/kept"]


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
    with judge.judging([Evaluator.job(SeedProgress(0), policy, policy)]) as rows:
        pass
    assert not rows
    assert policy.calls == 20  # of the three, the two that are played at once
