"""Presets train, from the first episode to the last evaluation."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from sfm.config import Config
from sfm.envs import make
from sfm.presets import PRESETS
from sfm.training.loop import Training
from tests.conftest import trained

BASELINES = [name for name in PRESETS if name.split("-")[0] in ("mm", "gaifo", "opolo")]


def shrunk(config: Config) -> Config:
    """The same with tiny networks, and five rounds of 250 updates."""

    def smaller(part: Any) -> Any:
        """`part` with every width in it at 8."""
        parts = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
        changes = {k: smaller(v) for k, v in parts.items() if dataclasses.is_dataclass(v)}
        changes |= {k: 8 for k in parts if k in ("width", "head_width", "embedding")}
        changes |= {k: v for k, v in {"refresh_every": 60, "refresh_batch": 16}.items() if k in parts}
        return dataclasses.replace(part, **changes)

    schedule = {"steps": 200, "envs": 2, "random_steps": 40, "batch": 16, "replay": 1000, "eval_every": 80}
    schedule |= {"updates_per_step": 6.25, "eval_episodes": 2, "chunk": math.gcd(250, config.schedule.chunk)}
    return dataclasses.replace(
        config,
        learner=smaller(config.learner),
        objective=smaller(config.objective),
        schedule=dataclasses.replace(config.schedule, **schedule),  # pyright: ignore
    )


@pytest.mark.parametrize("name", BASELINES)
def test_it_trains_end_to_end_and_keeps_the_latest_policy(name, point_demos):
    training = Training(shrunk(PRESETS[name]), lambda: make("probe_point"), point_demos)
    rows, judged = trained(training)
    averaged = PRESETS[name].schedule.average_updates > 0
    assert training.policies.kept[0] is training.policies.average[0]
    assert averaged == name.endswith("-cpu")
    assert (judged[-1]["eval/kept"] == judged[-1]["eval/current"]) != averaged
    assert training.progress[0].updates == 250 * len(rows[1:]) > 0
    refreshed = ["refresh/cost_gap" in row for row in rows]
    assert sum(refreshed) == training.progress[0].refreshes
    assert (sum(refreshed) > 1) != name.startswith("opolo")
    assert {"reward", "value"} <= rows[-1].keys()
    assert not any("score" in row for row in rows)  # nothing is assessed
    assert len({row["reward"] for row in rows[1:]}) == len(rows[1:])


@pytest.mark.parametrize("name", ["iq-learn", "iq-learn-cpu", "bc", "bco"])
def test_cloning_and_iq_learn_train_end_to_end(name, acted_demos):
    config = shrunk(PRESETS[name])
    if name == "bc":  # a step is an update
        config = dataclasses.replace(config, schedule=dataclasses.replace(config.schedule, steps=500))
    training = Training(config, lambda: make("probe_point"), acted_demos)
    rows, judged = trained(training)
    assert training.progress[0].updates >= 500
    assert "actor_loss" in rows[-1]
    assert judged[-1]["step"] == rows[-1]["step"]
    losses = [row["actor_loss"] for row in rows if "actor_loss" in row]
    assert np.isfinite(losses).all()
    assert len(set(losses)) == len(losses)


@pytest.mark.parametrize("name", ["fast-quadruped", "sfm-td7", "sfm-td3", "sfm-stochastic", "expert-td3"])
def test_sfm_and_experts_train_end_to_end(name, point_demos):
    training = Training(shrunk(PRESETS[name]), lambda: make("probe_point"), point_demos)
    rows, judged = trained(training)
    learned = [row for row in rows if "critic_loss" in row]
    assert training.progress[0].updates >= 250 * len(learned) > 0
    assert "actor_loss" in rows[-1]
    assert judged[-1]["step"] == rows[-1]["step"]
    assert ("gap" in learned[-1]) != name.startswith("expert")
    scores = [row["score"] for row in rows if "score" in row]
    assert bool(scores) == training.config.schedule.assesses == name.startswith("expert")
    assert np.isfinite(scores).all()
    assert len({row["critic_loss"] for row in learned}) == len(learned)
