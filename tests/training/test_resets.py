"""Runs in which some environments begin in demonstrated states."""

import json
import types

import numpy as np
import pytest

from sfm.config import FeatureConfig, SFMConfig
from sfm.training.loop import Training
from tests.conftest import tiny
from tests.training.ridge import Ridge, ridge_demos


class Shown(Ridge):
    """A ridge that can be set to a state."""

    model = data = types.SimpleNamespace(nq=1, nv=1)

    def observe(self, qpos, qvel):
        self.x, self.v, self.t = *qpos.tolist(), *qvel.tolist(), 0
        return self.obs()

    set_state = observe


def demos():
    plain = ridge_demos()
    return plain._replace(qpos=plain.obs[..., :1], qvel=plain.obs[..., 1:])


FEATURES = FeatureConfig(method="steps+landmarks", dim=8)
OBJECTIVE = SFMConfig(features=FEATURES, witness_batch="independent", match_from="visits", witness_newest=20)
CHANGES = {"envs": 4, "reset_share": 0.5, "assess_after": 1000, "steps": 900, "replay": 300}
CHANGES |= {"objective": OBJECTIVE, "normalise": "features", "updates_per_step": 0.5}


def resetting(**changes) -> Training:
    return Training(tiny(**CHANGES | changes), Shown, demos())


def timeless(rows):
    return json.dumps([{k: v for k, v in row.items() if "seconds" not in k} for row in rows])


def test_a_run_stopped_within_a_round_goes_on_bit_for_bit():
    """With episodes in parts, in a replay that soon overwrites, of two seeds."""
    changes = {"bursts_per_episode": 4, "seeds": 2}
    whole = resetting(**changes)
    rows = [row for part in whole.rounds() for row in part]

    asked, halves = [], 0
    stops = lambda: asked.append(0) or (len(asked) % 3 == 0 and halves < 2)  # noqa: E731
    now, found = resetting(**changes), []
    while not now.done:
        for part in now.rounds(stops):
            found += part
        halves += now.half is not None
        saved = now.arrays(), json.loads(json.dumps(now.meta()))
        now = resetting(**changes)
        now.restore(*saved)
    assert halves == 2
    assert timeless(found) == timeless(rows)
    want, got = whole.arrays(), now.arrays()
    assert want.keys() == got.keys()
    for name in want:
        np.testing.assert_array_equal(got[name], want[name], err_msg=name, strict=True)
    table = whole.experience.table()
    assert (table.visits < table.total).all()
    assert (table.visits > 0).all()
    windows = whole.learning._table().recent  # the witness sees no more
    np.testing.assert_array_equal(windows, np.stack([table.visits, np.minimum(table.visits, 20)], -1))


@pytest.mark.parametrize("parts", [1, 4])
def test_returns_are_those_of_visits_and_steps_those_of_all(parts):
    """A ball set on the ridge rolls off it many times in what one episode may last."""
    training = resetting(bursts_per_episode=parts, updates_per_step=0.01)
    before, played = 0, []
    collect = training._collect
    training._collect = lambda running: played.append(collect(running)) or played[-1]
    for rows in training.rounds():
        (row,) = [row for row in rows if "train/return" in row]
        episodes = played[-1][0]
        assert row["train/return"] == episodes.length[:2].mean()
        assert training.progress[0].round_steps == row["step"] - before
        before = row["step"]


def test_policies_are_assessed_by_visits():
    training = resetting(assess_after=0, assess_episodes=2, steps=400)
    seen = []
    scores = training.learning.scores
    training.learning.scores = lambda acted: (
        seen.extend(e.obs.shape[0] for e in acted.values()) or scores(acted)
    )
    judged = [row for rows in training.rounds() for row in rows if "score" in row]
    assert judged
    assert set(seen) == {2}


def test_demonstrations_without_states_of_the_simulator_leave_all_environments_where_they_begin():
    training = Training(tiny(**CHANGES), Shown, ridge_demos())
    assert training.experience.visited == 4
    assert training.experience._elsewhere(0) == {}
    unseen = Training(tiny(**CHANGES), Ridge, demos())
    assert unseen.experience.visited == 4
    assert unseen.experience._elsewhere(0) == {}


def test_baselines_learn_with_them():
    from tests.training.test_loop import OBJECTIVES

    for name in ("mm", "opolo"):
        training = resetting(objective=OBJECTIVES[name], normalise="none", steps=300)
        rows = [row for part in training.rounds() for row in part if "critic_loss" in row]
        assert all(np.isfinite(row["critic_loss"]) for row in rows)
        assert rows
