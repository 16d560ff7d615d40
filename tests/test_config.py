"""A configuration survives the way to JSON and back, and says what is wrong with it."""

import dataclasses
import json

import pytest

from sfm.config import (
    BCConfig,
    Config,
    FeatureConfig,
    IQConfig,
    OPOLOConfig,
    RewardConfig,
    ScheduleConfig,
    SFMConfig,
    StochasticConfig,
    TD3Config,
    TD7Config,
    from_dict,
    to_dict,
)
from sfm.errors import SfmError
from sfm.presets import PRESETS


@pytest.mark.parametrize("objective", [SFMConfig(features=FeatureConfig(method="hr", dim=7)), RewardConfig()])
@pytest.mark.parametrize(
    "learner", [TD3Config(width=9), TD7Config(embedding=5), StochasticConfig(temperature=0.5)]
)
def test_every_kind_survives_json(learner, objective):
    schedule = ScheduleConfig(steps=5)
    config = Config("walker_walk", "mine", 0.9, 3, "all", learner, objective, schedule, seed=3, seeds=2)
    data = json.loads(json.dumps(to_dict(config)))
    assert data["learner"]["kind"] == learner.kind
    assert from_dict(Config, data) == config


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_survives_json(name):
    assert from_dict(Config, json.loads(json.dumps(to_dict(PRESETS[name])))) == PRESETS[name]


def test_what_is_left_out_has_its_default():
    assert from_dict(Config, {}) == Config()
    short = {"learner": {"kind": "td7"}, "objective": {"kind": "sfm", "features": {"dim": 4}}}
    expected = Config(learner=TD7Config(), objective=SFMConfig(features=FeatureConfig(dim=4)))
    assert from_dict(Config, short) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"gama": 0.9}, "unknown Config field 'gama': did you mean gamma?"),
        ({"schedule": {"step": 5}}, "unknown ScheduleConfig field 'step': did you mean .*steps"),
        ([], r"a configuration must be a JSON object, not \[\]"),
        ({"learner": 3}, "Config.learner must be .*, not 3"),
        (
            {"objective": {"kind": "sfm", "features": {"lr_final": "x"}}},
            "FeatureConfig.lr_final must be float",
        ),
        ({"objective": {"kind": "discriminator", "cost": {"lr_final": "x"}}}, "CostConfig.lr_final must be"),
        ({"learner": {"kind": "td4"}}, "unknown kind 'td4': did you mean td7 or td3"),
        ({"learner": {"width": 9}}, "unknown kind ''"),
        ({"gamma": "0.9"}, "Config.gamma must be float, not '0.9'"),
        ({"schedule": {"steps": 1.5}}, "ScheduleConfig.steps must be int"),
        ({"normalise": "al"}, "unknown Config.normalise 'al': did you mean all"),
        ({"learner": {"kind": "td3", "temperature": 1}}, "unknown TD3Config field 'temperature'"),
        ({"objective": {"kind": "sfm", "features": {"size": 4}}}, "unknown FeatureConfig field 'size'"),
        (
            {"objective": {"kind": "sfm", "tail": "bootstrp"}},
            "unknown SFMConfig.tail 'bootstrp': did",
        ),
    ],
)
def test_what_is_not_known_is_refused(data, message):
    with pytest.raises(SfmError, match=message):
        from_dict(Config, data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": 1.0}, "gamma must lie in"),
        ({"gamma": -0.1}, "gamma must lie in"),
        ({"n_step": 0}, "n_step must be at least 1"),
        ({"objective": SFMConfig(witness_window=9)}, "witness_window needs objective.witness_batch indep"),
        ({"schedule": ScheduleConfig(average_share=0.5)}, "average_share must lie .* needs average_updates"),
        (
            {"n_step": 3, "objective": OPOLOConfig()},
            "n_step above 1 does not work with",
        ),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"schedule": ScheduleConfig(envs=0)}, "envs, steps and batch"),
        ({"schedule": ScheduleConfig(updates_per_step=0)}, "updates_per_step must be positive"),
        ({"schedule": ScheduleConfig(chunk=25)}, "multiple of learner.actor_delay"),
        ({"schedule": ScheduleConfig(chunk=0)}, "multiple of learner.actor_delay"),
        ({"learner": TD3Config(actor_delay=0)}, "multiple of learner.actor_delay"),
        ({"learner": TD7Config(target_interval=100)}, "multiple of learner.target_interval"),
        (
            {"objective": SFMConfig(features=FeatureConfig(interval=7))},
            "multiple of objective.features.interval",
        ),
        ({"objective": SFMConfig(critics=3)}, "objective.critics must be 1 or 2"),  # pyright: ignore
        ({"learner": TD3Config(polyak=-0.1)}, r"polyak must lie in \[0, 1\]"),
        (
            {"schedule": ScheduleConfig(bursts_per_episode=2)},
            "only with bursts_per_episode=1 and average_updates=0",
        ),
        (
            {"schedule": ScheduleConfig(average_updates=9)},
            "only with bursts_per_episode=1 and average_updates=0",
        ),
        (
            {"normalise": "features", "objective": RewardConfig()},
            "'reward' has no features: normalise must be",
        ),
        ({"learner": TD3Config(lr_actor_final=0.0)}, "lr_actor_final must be positive"),
        ({"objective": SFMConfig(expert_interval=0)}, "expert_interval must be at least 1"),
        ({"objective": SFMConfig(refresh_episodes=0)}, "refresh_episodes must be at least 1"),
        ({"objective": IQConfig(chi=0.0)}, "chi must be positive"),
        ({"schedule": ScheduleConfig(assess_episodes=0)}, "assess_episodes must be at least 1"),
        ({"objective": OPOLOConfig(cost_interval=7)}, "multiple of objective.cost_interval"),
        ({"objective": OPOLOConfig(inverse_interval=0)}, "multiple of objective.inverse_interval"),
        ({"objective": BCConfig(validation=1.0)}, "validation must lie in"),
        ({"objective": BCConfig(patience=10)}, "patience needs a validation share"),
        ({"schedule": ScheduleConfig(replay=1024)}, "replay must exceed"),
        ({"schedule": ScheduleConfig(eval_every=0)}, "eval_every"),
        ({"schedule": ScheduleConfig(random_steps=-1)}, "random_steps must not be negative"),
        ({"seed": 2**31}, "seeds must stay below"),
        (
            {"objective": SFMConfig(witness_error_weight=-1.0)},
            "objective.witness_error_weight must not be negative",
        ),
        ({"schedule": ScheduleConfig(bursts_per_episode=0)}, "bursts_per_episode must be at least 1"),
        ({"schedule": ScheduleConfig(actor_start_update=-1)}, "actor_start_update must not be negative"),
        ({"warm_start_updates": -1}, "warm_start_updates must not be negative"),
        ({"objective": SFMConfig(ema=1.0)}, "ema must lie in"),
        ({"objective": SFMConfig(features=FeatureConfig(dim=0))}, "dim must be at least 1"),
        ({"learner": TD3Config(lr_actor=-1.0)}, "lr_actor must be positive"),
        ({"learner": TD7Config(width=0)}, "width must be at least 1"),
        (
            {"schedule": ScheduleConfig(updates_per_step=float("inf"))},
            "schedule.updates_per_step must be a finite",
        ),
        ({"learner": TD3Config(explore_noise=float("nan"))}, "learner.explore_noise must be a finite"),
    ],
)
def test_what_cannot_work_is_refused(changes, message):
    with pytest.raises(SfmError, match=f"bad configuration: .*{message}"):
        Config(**changes)


def test_a_configuration_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().gamma = 0.5  # pyright: ignore
