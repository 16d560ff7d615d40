"""Configurations of earlier versions: what was off is left out, what was on is named, policies still act."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import sfm
from sfm import storage
from sfm.agents.agent import make_agent
from sfm.config import Config, StochasticConfig, TD3Config, TD7Config, from_dict, to_dict
from sfm.config.retired import RETIRED, understood
from sfm.demos import bundled
from sfm.errors import SfmError
from sfm.policy import save_policy
from sfm.presets import PRESETS

EARLIER = json.loads((Path(__file__).parents[1] / "data" / "earlier_presets.json").read_text())


def changed(part, **fields):
    """The earlier `fast`, whole, with fields of one of its parts changed."""
    data = json.loads(json.dumps(EARLIER["fast"]))
    inner = data
    for name in part.split(".") if part else ():
        inner = inner[name]
    inner |= fields
    return data


def today(preset):
    """With rates that fall over the run's own length, which is as long as the 100 steps that it named."""
    return json.loads(json.dumps(preset).replace('"decay_updates": 100', '"decay_updates": 0'))


@pytest.mark.parametrize("name", EARLIER)
def test_presets_of_the_version_before_are_those_of_today(name):
    before = from_dict(Config, today(EARLIER[name]))
    if not before.schedule.assesses:  # then it does not matter how
        schedule = dataclasses.replace(before.schedule, assess_relax=1.1, assess_by="min")
        before = dataclasses.replace(before, schedule=schedule)
    assert before == PRESETS[name]


@pytest.mark.parametrize(
    ("part", "fields", "message"),
    [
        ("schedule", {"noise_colour": 1.0}, "ScheduleConfig.noise_colour is 1.0, but that is gone: it gave"),
        ("schedule", {"assess_after": 1000}, "ScheduleConfig.assess_rescore is True, but that is gone"),
        ("objective", {"lead": 0.3}, "SFMConfig.lead is 0.3, but that is gone: it added"),
        ("objective", {"match_from": "anywhere"}, "SFMConfig.match_from is 'anywhere', but that is gone"),
        ("objective", {"tail": "repeat"}, "SFMConfig.tail is 'repeat', but that is gone"),
        ("objective.features", {"average": 0.01}, "FeatureConfig.average is 0.01, but that is gone"),
        ("objective.features", {"centre_decay": 0.9}, "FeatureConfig.centre_decay is 0.9, but that is gone"),
        ("learner", {"target_actor": "frozen"}, "TD3Config.target_actor is 'frozen', but that is gone"),
        ("learner", {"clip_targets": True}, "unknown TD3Config field 'clip_targets'"),  # it never had one
        ("schedule", {"noise_color": 0.0}, "unknown ScheduleConfig field 'noise_color'"),
    ],
)
def test_what_was_on_is_named_and_what_never_was_is_unknown(part, fields, message):
    with pytest.raises(SfmError, match=message):
        from_dict(Config, changed(part, **fields))


@pytest.mark.parametrize(
    ("everywhere", "of_phi", "today"),
    [(True, True, "all"), (True, False, "all"), (False, True, "features"), (False, False, "none")],
)
def test_two_switches_for_standardised_states_became_one(everywhere, of_phi, today):
    data = changed("objective.features", normalise=of_phi) | {"normalise": everywhere}
    assert from_dict(Config, data).normalise == today
    assert data["objective"]["features"]["normalise"] == of_phi  # the file's own data stay as they are


def test_a_renamed_field_keeps_its_value(monkeypatch):
    monkeypatch.setitem(RETIRED, "ActorCriticConfig.breadth", "width")
    assert from_dict(Config, {"learner": {"kind": "td7", "breadth": 8}}).learner == TD7Config(width=8)
    assert understood(TD3Config, {"breadth": 8, "depth": 1}) == {"width": 8, "depth": 1}
    with pytest.raises(SfmError, match="unknown TD7Config field 'bredth'"):
        from_dict(Config, {"learner": {"kind": "td7", "bredth": 8}})


def test_nothing_of_today_is_retired():
    for data in map(to_dict, PRESETS.values()):
        assert to_dict(from_dict(Config, data)) == data


@pytest.mark.parametrize("task", bundled.names())
def test_the_configuration_of_every_bundled_expert_loads(task):
    config = from_dict(Config, sfm.load_policy(task).meta["config"])
    assert config.preset == "expert-td3"
    quadruped = task.startswith("quadruped") or task == "cheetah_run"
    assert config.normalise == ("all" if quadruped else "none")


@pytest.mark.parametrize(
    ("learner", "config"),
    [
        (
            TD3Config(width=8, explore_noise=0.3),
            {
                "schedule": {"noise_colour": 1.0, "bursts_per_episode": 10},
                "objective": {"kind": "sfm", "lead": 0.3},
            },
        ),
        (
            TD7Config(width=8, embedding=4, explore_noise=0.3),
            {"objective": {"kind": "reward", "twins": "mean"}},
        ),
        (StochasticConfig(width=8, log_std_max=0.5), {"schedule": {"assess_rescore": True}}),
    ],
)
@pytest.mark.parametrize("normalise", [True, False])
def test_a_policy_acts_however_it_was_trained(learner, config, normalise, tmp_path):
    fresh = Config(learner=learner, normalise="all" if normalise else "none")
    agent = make_agent(fresh, 3, 2)
    module = agent.policy(agent.init(np.random.default_rng(0)))
    path = tmp_path / "policy.safetensors"
    save_policy(path, module, fresh, obs_dim=3, action_dim=2)
    arrays, meta = storage.read_arrays(path)
    training = {"target_actor": "frozen"} if learner.kind == "td3" else {"actor_delay": 3}
    if learner.kind == "td7":
        training |= {"clip_targets": False, "target_interval": 7, "actor_activation": "elu"}
    meta["config"] = config | {"learner": meta["config"]["learner"] | training, "normalise": normalise}
    storage.write_arrays(path, arrays, meta)
    obs, noise = np.ones((4, 3), np.float32), np.full((4, 2), 0.7, np.float32)
    loaded = sfm.load_policy(path)
    np.testing.assert_allclose(loaded(obs), module(obs), rtol=1e-5)
    np.testing.assert_allclose(loaded(obs, noise), module(obs, noise), rtol=1e-5)
    with pytest.raises(SfmError, match="that is gone"):
        from_dict(Config, meta["config"])


def test_a_policy_whose_networks_are_gone_is_refused(tmp_path):
    config = to_dict(Config(learner=TD7Config()))
    config["learner"]["actor_activation"] = "relu"
    meta = {"config": config, "obs_dim": 3, "action_dim": 2}
    storage.write_arrays(tmp_path / "policy.safetensors", {"x": np.zeros(1)}, meta)
    with pytest.raises(SfmError, match=r"TD7Config.actor_activation is 'relu', but that is gone"):
        sfm.load_policy(tmp_path / "policy.safetensors")
