"""A run's configuration refuses parts that do not go together."""

import dataclasses

import pytest

from sfm.config import (
    BCConfig,
    Config,
    FeatureConfig,
    OPOLOConfig,
    RewardConfig,
    ScheduleConfig,
    SFMConfig,
    TD7Config,
)
from sfm.errors import SfmError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": 1.0}, r"gamma must lie in \[0, 1\), not 1.0"),
        ({"gamma": -0.1}, "gamma must lie in"),
        ({"n_step": 0}, "n_step must be at least 1"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"seed": 2**31}, "seeds must stay below"),
        ({"warm_start_updates": -1}, "warm_start_updates must not be negative"),
        (
            {"n_step": 3, "objective": OPOLOConfig()},
            "n_step above 1 does not work with the objective 'opolo'",
        ),
        ({"normalise": "features", "objective": RewardConfig()}, "the objective 'reward' has no features"),
        (
            {"objective": SFMConfig(features=FeatureConfig(method="fdm+fourier"))},
            "fourier, steps and landmarks see standardised states",
        ),
        (
            {"objective": SFMConfig(), "schedule": ScheduleConfig(envs=4, reset_share=0.5)},
            "reset_share needs objective.witness_batch independent",
        ),
        ({"schedule": ScheduleConfig(chunk=25)}, "schedule.chunk must be a multiple of learner.actor_delay"),
        ({"learner": TD7Config(target_interval=100)}, "multiple of learner.target_interval"),
        ({"learner": TD7Config(actor_delay=4)}, "multiple of learner.actor_delay"),
        ({"objective": SFMConfig(FeatureConfig(interval=7))}, "multiple of objective.features.interval"),
        ({"objective": OPOLOConfig(cost_interval=7)}, "multiple of objective.cost_interval"),
        ({"objective": OPOLOConfig(inverse_interval=7)}, "multiple of objective.inverse_interval"),
        (
            {"objective": BCConfig(), "schedule": ScheduleConfig(average_updates=9, assess_after=10**9)},
            "average_updates does not work with the objective 'bc'",
        ),
    ],
)
def test_what_cannot_work_together_is_refused(changes, message):
    with pytest.raises(SfmError, match=f"^bad configuration: .*{message}"):
        Config(**changes)


def test_a_configuration_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().gamma = 0.5  # pyright: ignore


def test_what_a_run_is_told_by_its_parts():
    config = Config(schedule=ScheduleConfig(steps=1000, updates_per_step=0.25))
    assert config.updates == 250
    assert config.needs == "states"
    assert dataclasses.replace(config, warm_start="bc").needs == "actions"
    assert not dataclasses.replace(config, warm_start="bc").begins_with_policy
    assert dataclasses.replace(config, warm_start="walker_walk").begins_with_policy
