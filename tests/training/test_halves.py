"""A round that was stopped before its end goes on to the bit, in another process."""

import json

import numpy as np
import pytest

from sfm.config import SFMConfig, TD3Config, TD7Config
from sfm.presets import preset
from sfm.training import learn
from sfm.training.learn import unit_of
from tests.conftest import TINY, equal, point, tiny


@pytest.fixture(autouse=True)
def five_calls_per_chunk(monkeypatch):
    monkeypatch.setattr(learn, "unit_of", lambda config: 2)


def without_times(rows):
    return [{k: v for k, v in row.items() if not k.endswith("seconds")} for row in rows]


def made(training):
    return training.progress[0].updates + training.learning.begun


def again_and_again(every, **changes):
    """The rows and arrays of a training that is stopped whenever it has made so many updates, and goes on
    elsewhere with nothing but its files; and how often that was."""
    rows, stops, training = [], 0, point(**changes)
    while not training.done:
        target = made(training) + every
        for new in training.rounds(lambda now=training, until=target: made(now) >= until):
            rows += new
        if training.half:
            stops += 1
            arrays, meta = training.arrays(), json.loads(json.dumps(training.meta()))
            training = point(**changes)
            training.restore(arrays, meta)
    return rows, training.arrays(), stops


@pytest.mark.parametrize(
    "changes",
    [
        {},  # policies are assessed, and evaluated beside some rounds
        {"seeds": 2, "learner": TD7Config(width=16, embedding=16, target_interval=10)},
        {"assess_after": 10**9, "average_updates": 20, "bursts_per_episode": 2, "actor_start_update": 60},
    ],
)
def test_stopping_between_updates_changes_nothing(changes):
    whole = point(**changes)
    rows = [row for new in whole.rounds() for row in new]
    stopped, arrays, stops = again_and_again(46, **changes)
    assert stops >= 2
    assert without_times(stopped) == without_times(rows)
    assert equal(arrays, whole.arrays())


def test_calls_of_a_part_of_a_chunk_do_what_one_of_all_does(monkeypatch):
    """But for the last bits, since they are other programs; with other minibatches it would be per cents."""
    losses = []
    for unit in (2, 10):
        monkeypatch.setattr(learn, "unit_of", lambda config, unit=unit: unit)
        rows = [row for new in point(steps=80).rounds() for row in new]
        losses.append([(row["critic_loss"], row["feature_loss"]) for row in rows if "critic_loss" in row])
    assert losses[0]
    np.testing.assert_allclose(*losses, rtol=1e-3)


def test_what_has_diverged_is_not_stopped_to_be_saved():
    """Its last good checkpoint would be displaced."""
    training = point(learner=TD3Config(width=16, lr_actor=1e30, actor_delay=1))
    with pytest.raises(learn.Diverged):
        list(training.rounds(lambda: training.learning.begun >= 4))
    assert training.half is None


def test_a_call_takes_about_a_second_at_most():
    """sfm-td3 makes about four updates a second on two cores."""
    assert unit_of(preset("sfm-td3")) == 5
    assert unit_of(preset("sfm-td7")) == 5
    assert unit_of(preset("fast")) == preset("fast").schedule.chunk
    assert unit_of(TINY) == TINY.schedule.chunk
    assert isinstance(TINY.objective, SFMConfig)
    assert unit_of(tiny(seeds=10_000_000)) == 1
