"""Presets train, from the first episode to the last evaluation."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from sfm.config import Config, flat, to_dict
from sfm.envs import make
from sfm.presets import PRESETS
from sfm.training.loop import Training
from tests.conftest import trained

# The values of the paper's experiments; where paper and code differ, those of the authors' code.

LOOP = {
    "n_step": 1,
    "normalise": "none",
    "learner.actor_twin": "first",
    "schedule.steps": 1_000_000,
    "schedule.envs": 1,
    "schedule.random_steps": 10_000,
    "schedule.updates_per_step": 1.0,
    "schedule.bursts_per_episode": 1,
    "schedule.batch": 1024,
    "schedule.replay": 1_000_000,
    "schedule.average_updates": 0,
    "schedule.eval_every": 25_000,
    "schedule.eval_episodes": 10,
}
SFM = LOOP | {
    "objective.kind": "sfm",
    "objective.features.method": "fdm",
    "objective.features.dim": 128,
    "objective.features.width": 1024,
    "objective.features.depth": 3,
    "objective.features.head_width": 1024,
    "objective.features.interval": 1,
    "objective.features.centre": False,
    "objective.features.state_weight": 0.0,
    "objective.ema": 0.98,
    "objective.witness_batch": "same",
    "objective.actor_loss": "witness_flow",
    "objective.bootstrap": "target",
    "objective.tail": "bootstrap",
    "objective.match_from": "start",
    "objective.expert_interval": 1,
    "objective.critics": 2,
    "objective.witness_error_weight": 0.0,
    "objective.scale_psi": False,
    "objective.unit_witness": False,
    "schedule.assess_after": 75_000,
    "schedule.assess_episodes": 3,
    "schedule.assess_relax": 1.1,
    "schedule.assess_by": "min",
}
TD3 = {
    "learner.kind": "td3",
    "learner.lr_actor": 3e-4,
    "learner.lr_critic": 3e-4,
    "learner.width": 256,
    "learner.depth": 2,
    "learner.init": "orthogonal",
    "learner.layer_norm": False,
    "learner.actor_norm": False,
    "learner.pretanh_penalty": 0.0,
    "learner.actor_delay": 2,
    "learner.polyak": 0.005,
    "learner.polyak_on": "actor_steps",
    "learner.target_actor": "online",
    "learner.target_noise": 0.2,
    "learner.target_noise_clip": 0.5,
    "learner.explore_noise": 0.1,
}
TD7 = {
    "learner.kind": "td7",
    "learner.lr_actor": 5e-4,
    "learner.lr_critic": 5e-4,
    "learner.lr_encoder": 1e-4,
    "learner.width": 256,
    "learner.embedding": 256,
    "learner.init": "lecun",
    "learner.layer_norm": False,
    "learner.actor_norm": False,
    "learner.actor_delay": 2,
    "learner.target_interval": 250,
    "learner.target_noise": 0.2,
    "learner.target_noise_clip": 0.5,
    "learner.explore_noise": 0.1,
}
STOCHASTIC = {
    "learner.kind": "stochastic",
    "learner.lr_actor": 3e-4,
    "learner.lr_critic": 3e-4,
    "learner.width": 256,
    "learner.depth": 2,
    "learner.init": "orthogonal",
    "learner.actor_delay": 1,
    "learner.polyak": 0.005,
    "learner.temperature": 0.2,
    "learner.log_std_min": -2.5,
    "learner.log_std_max": 2.5,
    "learner.tanh_correction": False,
}
COST = {
    "objective.cost.width": 256,
    "objective.cost.depth": 2,
    "objective.cost.activation": "relu",
    "objective.cost.loss": "ipm",
    "objective.cost.penalty": 10.0,
    "objective.cost.penalty_norm": 0.4,
    "objective.cost.entropy": 0.0,
    "objective.cost.optimizer": "adam",
    "objective.cost.lr": 8e-4,
    "objective.cost.lr_final": 1e-7,
    "objective.cost.decay_updates": 0,
}
MM = LOOP | COST | {
    "gamma": 0.99,
    "objective.kind": "discriminator",
    "objective.sees": "state",
    "objective.refresh_every": 10_000,
    "objective.refresh_episodes": 4,
    "objective.refresh_updates": 1,
    "objective.refresh_batch": 4096,
}  # fmt: skip
MM_TD3 = {"learner.init": "lecun", "learner.target_actor": "polyak", "learner.polyak_on": "every_step"}
PAPER: dict[str, dict[str, Any]] = {
    "sfm-td7": SFM | TD7 | {"gamma": 0.99, "objective.features.lr": 1e-4, "objective.bootstrap": "online"},
    "sfm-td3": SFM | TD3 | {"gamma": 0.995, "objective.features.lr": 3e-4},
    "sfm-stochastic": SFM | STOCHASTIC | {
        "gamma": 0.995,
        "objective.features.lr": 3e-4,
        "objective.ema": 0.95,
        "objective.actor_loss": "witness",
    },
    "mm-td7": MM | TD7,
    "mm-td3": MM | TD3 | MM_TD3,
    "gaifo-td7": MM | TD7 | {"objective.sees": "pair", "learner.lr_actor": 3e-4, "learner.lr_critic": 3e-4},
    "gaifo-td3": MM | TD3 | MM_TD3 | {"objective.sees": "pair"},
    "opolo-td3": LOOP | TD3 | COST | {
        "gamma": 0.99,
        "learner.width": 350,  # two layers with as many parameters as the authors' 400 and 300 units
        "learner.init": "lecun",
        "learner.target_noise": 0.0,
        "learner.actor_twin": "min",
        "objective.cost.activation": "tanh",
        "objective.cost.loss": "js",
        "objective.cost.penalty_norm": 1.0,
        "objective.cost.entropy": 1e-3,
        "objective.cost.lr": 3e-4,
        "objective.cost.lr_final": None,
        "objective.cost_interval": 50,
        "objective.inverse.width": 256,
        "objective.inverse.lr": 3e-4,
        "objective.inverse.decay": 1e-3,
        "objective.inverse_interval": 10,
        "objective.inverse_first": 2500,
        "objective.alpha": 0.1,
        "objective.clone": 0.1,
        "schedule.batch": 100,
    },
    "iq-learn": LOOP | STOCHASTIC | {
        "gamma": 0.99,
        "learner.lr_actor": 3e-5,
        "learner.temperature": 0.01,
        "learner.log_std_min": -5.0,
        "learner.log_std_max": 2.0,
        "learner.tanh_correction": True,
        "objective.value_term": "value",
        "objective.chi": 0.5,
        "objective.chi_over": "all",
        "objective.bootstrap": "target",
        "objective.twins": "first",
        "schedule.batch": 256,
        "schedule.replay": 500_000,
        "schedule.random_steps": 0,
    },
    "bc": {
        "learner.kind": "td3",
        "learner.lr_actor": 3e-4,
        "learner.width": 256,
        "learner.depth": 2,
        "learner.init": "orthogonal",
        "learner.actor_delay": 1,
        "objective.kind": "bc",
        "objective.validation": 0.0,
        "schedule.batch": 256,
        "schedule.steps": 20_000,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PAPER)
def test_a_preset_of_the_paper_has_its_values(name):
    values = dict(flat(to_dict(PRESETS[name])))
    assert {place: values[place] for place in PAPER[name]} == PAPER[name]


BASELINES = ["mm-td3", "gaifo-td7-cpu", "opolo-td3-cpu"]  # each cost, learner and schedule once


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
    steps = training.progress[0].steps  # those of fresh episodes earn updates, too
    assert training.progress[0].updates == (steps - 40) * 6.25 > 0
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


@pytest.mark.parametrize("name", ["sfm-td7", "sfm-td3", "sfm-stochastic", "expert-td3"])
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
