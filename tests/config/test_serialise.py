"""A configuration survives the way to JSON and back, refuses what it does not know, and takes overrides."""

import json

import pytest

from sfm.config import (
    Config,
    FeatureConfig,
    RewardConfig,
    ScheduleConfig,
    SFMConfig,
    StochasticConfig,
    TD3Config,
    TD7Config,
    from_dict,
    overridden,
    setting,
    to_dict,
)
from sfm.errors import SfmError
from sfm.presets import PRESETS


@pytest.mark.parametrize("objective", [SFMConfig(features=FeatureConfig(method="hr", dim=7)), RewardConfig()])
@pytest.mark.parametrize(
    "learner", [TD3Config(width=9), TD7Config(embedding=5), StochasticConfig(temperature=0.5)]
)
def test_every_kind_survives_json(learner, objective):
    parts = {"learner": learner, "objective": objective, "schedule": ScheduleConfig(steps=5)}
    config = Config(
        task="walker_walk", preset="mine", n_step=3, action_repeat=2, normalise="all", seed=3, **parts
    )
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
        ({"schedule": {"steps": "1e3"}}, "ScheduleConfig.steps must be int, not '1e3'"),
        ({"schedule": {"assess_after": None}}, "ScheduleConfig.assess_after must be int, not None"),
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


def test_overrides_find_their_place():
    config = overridden(PRESETS["sfm-td3"], {"steps": 5000, "learner__lr_actor": 1.0, "method": "ae"})
    assert config.schedule.steps == 5000
    assert config.learner.lr_actor == 1.0
    assert config.objective.features.method == "ae"
    assert overridden(PRESETS["sfm-td3"], {"learner.lr_actor": 1.0, "features.lr": 2.0}) == overridden(
        PRESETS["sfm-td3"], {"learner__lr_actor": 1.0, "objective__features__lr": 2.0}
    )
    together = overridden(PRESETS["sfm-td7"], {"chunk": 10, "target_interval": 10})  # neither fits alone
    assert together.schedule.chunk == together.learner.target_interval == 10  # pyright: ignore
    assert overridden(PRESETS["sfm-td7"], {"learner": TD3Config(width=7)}).learner == TD3Config(width=7)


def test_settings_as_text():
    assert [setting(text) for text in ("n_step=1", "lr=1e-3", "tail=truncate", "centre=true")] == [
        ("n_step", 1),
        ("lr", 1e-3),
        ("tail", "truncate"),
        ("centre", True),
    ]
    with pytest.raises(SfmError, match="'n_step' is no setting: write name=value"):
        setting("n_step")


def test_overrides_that_fit_nowhere_or_twice_are_refused():
    with pytest.raises(SfmError, match="did you mean steps"):
        overridden(PRESETS["sfm-td3"], {"step": 1})
    with pytest.raises(SfmError, match="ambiguous: say learner__width or objective__features__width"):
        overridden(PRESETS["sfm-td3"], {"width": 1})


def test_a_list_of_numbers_survives_json_as_a_tuple():
    config = overridden(PRESETS["fast"], {"bandwidths": [1, 2.5], "method": "fourier"})
    assert config.objective.features.bandwidths == (1, 2.5)
    assert from_dict(Config, json.loads(json.dumps(to_dict(config)))) == config
    with pytest.raises(SfmError, match="bandwidths must be"):
        overridden(PRESETS["fast"], {"bandwidths": ["wide"]})
