"""Settings by their names, and what differs from the preset."""

import pytest

from sfm import storage
from sfm.config import flat, to_dict
from sfm.errors import SfmError
from sfm.presets import preset
from sfm.report.settings import changes, label, settings_of, short, whole_name


def settings(tmp_path, **changed):
    data = to_dict(preset("fast", task="walker_walk", seed=7, **changed))
    storage.write_json(tmp_path / "config.json", data)
    return settings_of(tmp_path / "config.json")


def test_only_what_differs_from_the_preset_is_a_change(tmp_path):
    found, problem = settings(tmp_path)
    assert (changes(found), problem) == ({}, "")
    found, _ = settings(tmp_path, gamma=0.9, n_step=1)
    assert changes(found) == {"gamma": 0.9, "n_step": 1}
    assert label(changes(found), found) == "gamma=0.9 n_step=1"


def test_settings_of_earlier_versions_are_understood(tmp_path):
    data = to_dict(preset("fast", task="walker_walk"))
    data["schedule"]["segments"] = data["schedule"].pop("bursts_per_episode")
    storage.write_json(tmp_path / "config.json", data)
    found, problem = settings_of(tmp_path / "config.json")
    assert (changes(found), problem) == ({}, "")
    data["schedule"]["noise_colour"] = 2.0  # which no run of today can have: it is shown as it is
    storage.write_json(tmp_path / "config.json", data)
    found, problem = settings_of(tmp_path / "config.json")
    assert found["schedule.noise_colour"] == 2.0
    assert problem == ""


def test_names_are_as_short_as_they_can_be():
    names = ["learner.width", "objective.features.width", "gamma"]
    assert short("learner.width", names) == "learner.width"
    assert short("objective.features.width", names) == "features.width"
    assert short("gamma", names) == "gamma"
    assert whole_name("features.width", names) == "objective.features.width"
    with pytest.raises(
        SfmError, match=r"'width' is ambiguous: say learner\.width or objective\.features\.width"
    ):
        whole_name("width", names)
    with pytest.raises(SfmError, match="unknown setting 'gama': did you mean gamma"):
        whole_name("gama", names)


def test_what_a_run_chooses_itself_is_no_change():
    found = {"preset": "general", "action_repeat": 3}
    told = dict(flat(to_dict(preset("general")))) | found
    assert "action_repeat" not in changes(told)
    assert "action_repeat" not in changes(told, chosen=3)
    assert changes(told, chosen=1)["action_repeat"] == 3
