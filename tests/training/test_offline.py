"""Rounds without episodes, and runs that begin with a cloned actor or with a policy."""

import json

import jax
import numpy as np
import pytest

from sfm.config import BCConfig, StochasticConfig, TD3Config, TD7Config
from sfm.envs import make
from sfm.training.loop import Training
from sfm.training.offline import warm_start
from tests.conftest import equal, tiny, trained

CLONE = {"objective": BCConfig(), "learner": TD3Config(width=16, actor_delay=1, lr_actor=3e-3)}
LEARNERS = {
    "td3": TD3Config(width=16, target_actor="polyak", lr_actor=3e-3),
    "td7": TD7Config(width=16, embedding=16, target_interval=10, lr_actor=3e-3),
    "stochastic": StochasticConfig(width=16, lr_actor=3e-3),
}


def start(demos, beginning=None, **changes) -> Training:
    return Training(tiny(**changes), lambda: make("probe_point"), demos, beginning)


def rows_of(training: Training) -> list[dict]:
    rows = [row for rows in training.rounds() for row in rows]
    return [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]


def restored(demos, whole: Training, after: int, beginning=None, **changes) -> tuple[Training, list[dict]]:
    """The same run, stopped after some rounds and gone on with in another object."""
    first = start(demos, beginning, **changes)
    going = first.rounds()
    for _ in range(after):
        next(going)
    second = start(demos, beginning, **changes)
    second.restore(first.arrays(), json.loads(json.dumps(first.meta())))
    rows = rows_of(second)
    want, got = whole.arrays(), second.arrays()
    assert want.keys() == got.keys()
    for name in want:
        np.testing.assert_array_equal(got[name], want[name], err_msg=name)
    return second, rows


def test_a_step_is_an_update_and_no_episode_is_collected(acted_demos):
    training = start(acted_demos, steps=60, eval_every=30, seeds=2, **CLONE)
    rows, judged = trained(training)
    assert [row["step"] for row in rows if row["seed"] == 1] == [10, 20, 30, 40, 50, 60]
    assert all(row["updates"] == row["step"] and row["episodes"] == 0 for row in rows)
    assert [(row["step"], row["updates"]) for row in judged if row["seed"] == 0] == [(30, 30), (60, 60)]
    assert "train/return" not in rows[0]
    assert "validation_loss" not in rows[0]
    assert training.policies.kept[0] is training.policies.current[0]
    restored(acted_demos, training, 3, steps=60, eval_every=30, seeds=2, **CLONE)


def test_early_stopping_keeps_the_best_policy(acted_demos):
    """Where the held-out actions contradict the others, learning makes the validation loss worse."""
    action = acted_demos.action.copy()
    action[:, 10:] = -1.0  # learned: 0 at the point
    changes = {"objective": BCConfig(validation=0.5, patience=30), "steps": 2000, "seeds": 2}
    changes = CLONE | changes
    training = start(acted_demos._replace(action=action), **changes)
    rows = rows_of(training)
    for i, seed in enumerate(p.seed for p in training.progress):
        *mine, last = [row for row in rows if row["seed"] == seed]
        losses = np.array([row["validation_loss"] for row in mine])
        best = int(losses.argmin())
        assert len(mine) == best + 1 + 3 < 200  # three chunks of ten updates without a better one
        assert mine[best]["kept"]
        assert not any(row["kept"] for row in mine[best + 1 :])
        assert last["eval/kept"] <= 0
        assert last["likeness/kept"] > 0
        assert last["step"] == mine[-1]["step"]
        held_out = acted_demos.obs[:, 10:20]
        error = np.square(training.policies.kept[i](held_out) + 1.0).mean()
        assert error == pytest.approx(losses[best], rel=1e-4)
    assert training.done
    again, rest = restored(acted_demos._replace(action=action), training, 2, **changes)
    assert again.done
    assert rest == [row for row in rows if row["step"] > 20]


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_warm_start_is_a_cloned_actor_in_an_otherwise_new_learner(kind, acted_demos):
    changes = {"learner": LEARNERS[kind], "seeds": 2, "normalise": "all"}
    cold = start(acted_demos, **changes)
    warm = start(acted_demos, **changes)
    warm_start(warm.learning, 400)
    obs = acted_demos.obs[:, :-1].reshape(-1, 1)
    expert = acted_demos.action.reshape(-1, 1)
    for i in range(2):
        errors = [np.square(t.policies.current[i](obs) - expert).mean() for t in (cold, warm)]
        assert errors[1] < 0.1 * errors[0]
        assert warm.policies.kept[i] is warm.policies.current[i]
        if kind == "stochastic":  # nothing drives the spread of actions to its limit of 2.5
            spreads = [t.policies.current[i].policy.moments(obs)[1].mean() for t in (cold, warm)]
            assert abs(spreads[1] - spreads[0]) < 1.0
    before, after = cold.learning.state.learner, warm.learning.state.learner
    pairs = zip(jax.tree.leaves(before.critic), jax.tree.leaves(after.critic), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)  # the optimizer's state, too
    for name in ("actor", "critic", "encoder"):
        if hasattr(after, f"target_{name}"):
            copies = zip(
                *(map(jax.tree.leaves, (getattr(after, f"target_{name}"), getattr(after, name).net))),
                strict=True,
            )
            assert all(np.array_equal(a, b) for a, b in copies)
    assert not any(np.any(x) for x in jax.tree.leaves(after.actor.opt))
    if kind == "td7":
        assert np.isinf(after.seen.low).all()


def test_a_run_that_began_warm_goes_on_as_usual_and_resumes_bit_for_bit(acted_demos):
    changes = {"warm_start": "bc", "warm_start_updates": 15, "seeds": 2}  # in two chunks of ten
    whole, usual = start(acted_demos, **changes), start(acted_demos, seeds=2)
    rows, others = rows_of(whole), rows_of(usual)
    assert [row["step"] for row in rows] == [row["step"] for row in others]
    returns, usual = ([row["train/return"] for row in r if "episodes" in row][::2] for r in (rows, others))
    assert returns[0] == usual[0]  # random actions
    assert returns[1] != usual[1]  # of the first policies
    restored(acted_demos, whole, 2, **changes)


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_run_goes_on_from_a_policy_whose_actor_rests_while_the_critic_is_young(kind, acted_demos):
    changes = {"learner": LEARNERS[kind], "normalise": "all"}
    other = start(acted_demos, **changes)
    rows_of(other)
    given = other.policies.current[0]
    changes |= {"seeds": 2, "random_steps": 0, "actor_start_update": 80, "assess_after": 1000}
    training = start(acted_demos, given, **changes)
    obs = acted_demos.obs[:, :-1].reshape(-1, 1)
    for policy in training.policies.current:
        np.testing.assert_allclose(policy(obs), given(obs), atol=1e-6)
    old = jax.tree.map(np.asarray, training.learning.state.learner)
    rested = []
    for rows in training.rounds():
        rounds = [row for row in rows if "episodes" in row]
        rested += [all(row["updates"] <= 80 for row in rounds)]
        assert ("actor_loss" in rounds[0]) != rested[-1]
        now = training.learning.state.learner
        same = {n: equal(getattr(old, n).net, getattr(now, n).net) for n in ("actor", "critic")}
        assert same == {"actor": rested[-1], "critic": False}
        if rested[-1] and kind != "td7":  # where the encoder learns
            assert equal(training.policies.current[0].policy, given.policy)
    assert rested[0]
    assert not rested[-1]
    restored(acted_demos, training, 2, given, **changes)
