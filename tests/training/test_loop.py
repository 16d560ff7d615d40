"""The loop, with the smallest agent: seeds do not meet, ends are respected, and a saved run goes on."""

import dataclasses
import json

import jax
import numpy as np
import pytest
from ridge import Ridge, ridge_demos

from sfm.config import (
    CostConfig,
    DiscriminatorConfig,
    FeatureConfig,
    InverseConfig,
    OPOLOConfig,
    SFMConfig,
)
from sfm.training.loop import Training
from tests.conftest import TINY, equal, point, tiny, trained


def timeless(data):
    """Rows or progress without what depends on the clock."""
    return json.dumps([{k: v for k, v in part.items() if "seconds" not in k} for part in data])


OBJECTIVES = {
    "sfm": TINY.objective,
    "mm": DiscriminatorConfig(cost=CostConfig(width=16), refresh_every=60, refresh_episodes=1),
    "opolo": OPOLOConfig(
        cost=CostConfig(width=16, loss="js"),
        inverse=InverseConfig(width=16),
        cost_interval=5,
        inverse_interval=2,
        inverse_first=30,
    ),
}
CASES = {name: {"objective": objective} for name, objective in OBJECTIVES.items()}
CASES["segments"] = {"bursts_per_episode": 3, "assess_after": 1000}  # of 7, 7 and 6 steps
CASES["segments of one environment"] = {"bursts_per_episode": 3, "assess_after": 1000, "envs": 1}
CASES["averaged, slower and slower"] = {
    "bursts_per_episode": 3,
    "assess_after": 1000,
    "average_updates": 20,
    "average_share": 0.2,
    "learner": dataclasses.replace(TINY.learner, lr_actor_final=1e-5),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def whole(case):
    """An uninterrupted run of seeds 0 and 1, and its rows."""
    training = point(steps=240, seeds=2, **case)
    return training, [row for rows in training.rounds() for row in rows]


@pytest.fixture(scope="module")
def alone(case):
    """Seed 1 by itself."""
    training = point(steps=240, seed=1, **case)
    return training, [row for rows in training.rounds() for row in rows]


def test_a_seed_among_others_trains_as_it_would_alone(whole, alone):
    """Up to rounding: a batched matrix product may add in another order."""
    theirs = [row for row in whole[1] if row["seed"] == 1]
    for a, b in zip(theirs, alone[1], strict=True):
        assert a.keys() == b.keys()
        for name in a.keys() - {"seconds", "burst_seconds"}:
            assert a[name] == pytest.approx(b[name], rel=1e-3, abs=1e-5), name
    states = (jax.tree.leaves(training.learning.state) for training, _ in (whole, alone))
    for a, b in zip(*states, strict=True):
        np.testing.assert_allclose(a[1], b[0], rtol=1e-3, atol=1e-4)
        assert a[0].ndim == 0 or not a[0].any() or not np.array_equal(a[0], a[1])  # seeds differ


@pytest.mark.parametrize(
    ("ends", "changes"),
    [
        (False, {"steps": 360, "assess_after": 40, "assess_episodes": 6, "actor_start_update": 150}),
        (True, {"steps": 260, "assess_after": 1000, "bursts_per_episode": 4, "updates_per_step": 4.0}),
    ],
    ids=["assessed, with young actors", "ends at different times"],
)
def test_seeds_do_not_use_up_each_others_updates(ends, changes):
    """A seed with many updates put off, or one that has finished, leaves the others theirs."""

    def run(**seeds):
        config = tiny(**changes | seeds)
        training = Training(config, Ridge, ridge_demos()) if ends else point(**changes | seeds)
        rows = [row for rows in training.rounds() for row in rows]
        return {
            s: [(r["step"], r["updates"], "eval/kept" in r) for r in rows if r["seed"] == s] for s in range(5)
        }

    together = run(seeds=5)
    for seed in range(5):
        assert run(seed=seed)[seed] == together[seed]


def test_a_restored_run_goes_on_bit_for_bit(whole, case):
    first = point(steps=240, seeds=2, **case)
    going = first.rounds()
    rows = [row for _ in range(3) for row in next(going)]
    arrays, meta = first.arrays(), json.loads(json.dumps(first.meta()))
    second = point(steps=240, seeds=2, **case)
    second.restore(arrays, meta)
    rows += [row for rows in second.rounds() for row in rows]
    assert timeless(rows) == timeless(whole[1])
    assert timeless(second.meta()["progress"]) == timeless(whole[0].meta()["progress"])
    want, got = whole[0].arrays(), second.arrays()
    assert want.keys() == got.keys()
    for name in want:
        np.testing.assert_array_equal(got[name], want[name], err_msg=name, strict=True)


def test_random_episodes_are_not_judged():
    """Episodes are whole, so the last random one may end after `random_steps`."""
    rows, _ = trained(point(random_steps=50, steps=160))
    assert [(row["step"], "score" in row) for row in rows] == [
        (40, False), (80, False), (120, True), (160, True)
    ]  # fmt: skip


@pytest.mark.parametrize("case", ["sfm"], indirect=True)
def test_the_schedule_of_a_run(alone):
    """40 steps a round; random until 40, every policy kept until 80, evaluated every 80, budget 240."""
    rows = [row for row in alone[1] if "eval/kept" not in row]
    assert [row["step"] for row in rows] == [40, 80, 120, 160, 200, 240]
    assert [row["episodes"] for row in rows] == [2, 4, 6, 8, 10, 12]
    assert ["score" in row for row in rows] == [False] + 5 * [True]
    assert rows[1]["kept"] == 1
    assert rows[1]["updates"] == 40
    assert rows[1]["gap"] > 0


@pytest.mark.parametrize("case", ["sfm"], indirect=True)
def test_evaluations_are_logged_at_the_step_of_the_policies_that_they_judge(alone):
    """Those that begin a round, beside it, and in the end those that it leaves."""
    training, rows = alone
    assert [(row["step"], "eval/kept" in row) for row in rows] == [
        (40, False), (40, True), (80, False), (120, False), (120, True), (160, False), (200, False),
        (240, False), (240, True),
    ]  # fmt: skip
    rounds = {row["step"]: row for row in rows if "eval/kept" not in row}
    for row in (row for row in rows if "eval/kept" in row):
        told = {f"{what}/{whose}" for what in ("eval", "likeness") for whose in ("current", "kept")}
        assert row.keys() == {"step", "seed", "updates", "seconds"} | told
        assert {k: row[k] for k in ("seed", "updates", "seconds")} == {
            k: rounds[row["step"]][k] for k in ("seed", "updates", "seconds")
        }
    last = rows[-1]
    for name in ("current", "kept"):
        returns = training.evaluator.returns(1, getattr(training.policies, name)[0])
        assert last[f"eval/{name}"] == returns.mean()


def test_a_policy_is_evaluated_once_when_a_finished_run_goes_on():
    """With evaluations in every round, that of the end is also the one that begins the next."""
    changes = {"eval_every": 40, "assess_after": 1000}
    first, longer = point(steps=120, **changes), point(steps=240, **changes)
    judged = trained(first)[1]
    longer.restore(first.arrays(), json.loads(json.dumps(first.meta())))
    judged += trained(longer)[1]
    whole = trained(point(steps=240, **changes))[1]
    assert [row["step"] for row in judged] == [0, 40, 120, 160, 240]
    assert [row["step"] for row in whole] == [0, 40, 80, 120, 160, 240]
    assert timeless(judged) == timeless(row for row in whole if row["step"] != 80)


def test_in_segments_updates_follow_the_steps():
    training = point(bursts_per_episode=4, random_steps=40, assess_after=1000, steps=800)
    acting = training.policies.current[0]
    for row in (row for rows in training.rounds() for row in rows if "episodes" in row):
        p = training.progress[0]
        assert p.updates + p.owed == row["step"] - 40
        assert p.owed < 10  # what does not fill a chunk
        learned = not equal(acting, training.policies.current[0])
        assert ("critic_loss" in row) == (row["step"] > 40) == learned
        assert not row.keys() & {"score", "kept"}  # nothing is assessed
        acting = training.policies.current[0]
        assert equal(training.policies.kept[0], acting)
    table = training.experience.layouts[0].table()
    assert table.total == 800
    assert set(table.length.tolist()) == {0, 5}  # unused rows, and parts
    assert row["updates"] == training.progress[0].updates


def test_a_policy_is_kept_if_its_episodes_reach_the_bar():
    """Two episodes judge a policy, by their mean score; the bar is that of the last one that was kept."""
    schedule = {"assess_after": 0, "assess_episodes": 2, "assess_by": "mean", "assess_relax": 1.0}
    training = point(steps=480, **schedule)
    kept = []
    while not training.done:
        bar = training.progress[0].assessment.best
        row = next(row for row in next(training.rounds()) if "episodes" in row)
        if "score" in row:
            kept.append(row["kept"])
            assert row["kept"] == (row["score"] >= bar) == (training.progress[0].kept_steps == row["step"])
    assert len(kept) == 11
    assert 0 < sum(kept) < len(kept)


def test_the_newest_policy_acts_also_in_an_episode_that_has_begun():
    training = point(random_steps=0)
    rollout, act = training.experience.begin(0, training._policy(0))
    for action in (0.25, -0.5):
        training.policies.begin([lambda obs, noise, action=action: np.full((len(obs), 1), action)])
        part = rollout.advance(act, rollout.time + 5)
        assert (part.action == action).all()


def test_updates_that_do_not_fill_a_chunk_wait():
    training = point(updates_per_step=0.3, assess_after=1000)  # 12 updates a round in chunks of 10
    rows, _ = trained(training)
    assert [row["updates"] for row in rows] == [0, 10, 20, 30]
    assert training.progress[0].owed == pytest.approx(6)


@pytest.mark.parametrize("counted", [True, False])
def test_refresh_episodes_are_counted_or_not(counted):
    features = FeatureConfig(method="adversarial", dim=8, width=16, depth=2, refresh_batch=32)
    objective = SFMConfig(features=features, refresh_every=100, refresh_episodes=3, refresh_counted=counted)
    training = point(objective=objective, steps=320, assess_after=10**9)
    refresh, explored = training.learning.refresh, []

    def watch(fresh):
        greedy = training.policies.current[0](fresh[0].obs[:, :-1])
        explored.append(np.abs(fresh[0].action - greedy).mean())
        return refresh(fresh)

    training.learning.refresh = watch
    rows, _ = trained(training)
    assert min(explored) > 0.01
    refreshed = [row["step"] for row in rows if "refresh/feature_gap" in row]
    progress = training.progress[0]
    assert progress.refreshes == len(refreshed)
    if counted:  # a refresh takes 60 steps from the budget
        assert refreshed == [100, 200, 300, 400]
        assert progress.steps == 40 * len(rows) + 60 * len(refreshed)
        assert progress.updates + progress.owed == progress.steps - 40  # all but the random ones earn theirs
    else:
        assert refreshed == [40, 120, 200, 320]
        assert progress.steps == 40 * len(rows) == 320
    assert len(training.experience.layouts[0].episodes) == 2 * len(rows)  # they do not enter the replay
