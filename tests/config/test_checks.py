"""Each dataclass refuses values that cannot work, by the name that they have in a run."""

import dataclasses
import math
from typing import Annotated, Any, Literal

import pytest

from sfm.config import (
    BCConfig,
    CostConfig,
    DiscriminatorConfig,
    FeatureConfig,
    InverseConfig,
    IQConfig,
    OPOLOConfig,
    ScheduleConfig,
    SFMConfig,
    StochasticConfig,
    TD3Config,
    TD7Config,
)
from sfm.config.checks import AtLeastOne, BelowOne, NotNegativeOrNone, Positive, PositiveOrNone, Share, check
from sfm.errors import SfmError


@dataclasses.dataclass
class Part:
    count: AtLeastOne = 1
    rate: Positive = 0.1
    last_rate: PositiveOrNone = None
    weight: NotNegativeOrNone = 0.0
    share: Share = 1.0
    discount: BelowOne = 0.0
    free: float = -1.0
    choice: Literal["left", "right"] = "left"
    number: Literal[1, 2] = 2
    odd: Annotated[int, "no range"] | None = None


def test_what_is_in_range_passes():
    check(Part())
    check(Part(rate=1e-30, last_rate=1, weight=None, share=0, discount=0.999, free=-1e30, number=1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "bad configuration: here.count must be at least 1, not 0."),
        ({"rate": 0.0}, "bad configuration: here.rate must be positive, not 0.0."),
        ({"last_rate": -1.0}, "bad configuration: here.last_rate must be positive, not -1.0."),
        ({"weight": -0.1}, "bad configuration: here.weight must not be negative, not -0.1."),
        ({"share": 1.1}, "bad configuration: here.share must lie in [0, 1], not 1.1."),
        ({"share": -0.1}, "bad configuration: here.share must lie in [0, 1], not -0.1."),
        ({"discount": 1.0}, "bad configuration: here.discount must lie in [0, 1), not 1.0."),
        ({"free": math.nan}, "bad configuration: here.free must be a finite number, not nan."),
        ({"rate": math.inf}, "bad configuration: here.rate must be a finite number, not inf."),
        ({"choice": "rigth"}, "unknown Part.choice 'rigth': did you mean right?"),
        ({"number": 3}, "unknown Part.number '3': known: 1, 2."),
    ],
)
def test_what_is_not_is_named(changes, message):
    with pytest.raises(SfmError) as caught:
        check(Part(**changes), "here")
    assert str(caught.value) == message


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (TD3Config, {"width": 0}, "learner.width must be at least 1"),
    (TD3Config, {"polyak": -0.1}, r"learner.polyak must lie in \[0, 1\]"),
    (TD3Config, {"actor_delay": 0}, "learner.actor_delay must be at least 1"),
    (TD3Config, {"explore_noise": math.nan}, "learner.explore_noise must be a finite"),
    (TD3Config, {"lr_actor_final": 0.0}, "learner.lr_actor_final must be positive"),
    (TD7Config, {"lr_actor": -1.0}, "learner.lr_actor must be positive"),
    (TD7Config, {"embedding": 0}, "learner.embedding must be at least 1"),
    (StochasticConfig, {"temperature": -1.0}, "learner.temperature must not be negative"),
    (StochasticConfig, {"log_std_min": 3.0}, "log_std_min must not exceed learner.log_std_max"),
    (FeatureConfig, {"dim": 0}, "objective.features.dim must be at least 1"),
    (FeatureConfig, {"interval": 0}, "objective.features.interval must be at least 1"),
    (CostConfig, {"lr": 0.0}, "objective.cost.lr must be positive"),
    (InverseConfig, {"width": 0}, "objective.inverse.width must be at least 1"),
    (SFMConfig, {"ema": 1.0}, r"objective.ema must lie in \[0, 1\)"),
    (SFMConfig, {"expert_interval": 0}, "objective.expert_interval must be at least 1"),
    (SFMConfig, {"refresh_episodes": 0}, "objective.refresh_episodes must be at least 1"),
    (SFMConfig, {"witness_error_weight": -1.0}, "objective.witness_error_weight must not be negative"),
    (SFMConfig, {"witness_window": 9}, "witness_window needs objective.witness_batch independent"),
    (SFMConfig, {"witness_share": 0.5}, "witness_share needs objective.witness_batch independent"),
    (SFMConfig, {"witness_newest": 9}, "witness_newest needs objective.witness_batch independent"),
    (
        SFMConfig,
        {"witness_share": 0.5, "witness_window": 9, "witness_batch": "independent"},
        "witness_window or objective.witness_share, not both",
    ),
    (FeatureConfig, {"coordinates": (2, -1)}, "objective.features.coordinates must not be negative"),
    (DiscriminatorConfig, {"refresh_updates": 0}, "objective.refresh_updates must be at least 1"),
    (OPOLOConfig, {"inverse_interval": 0}, "objective.inverse_interval must be at least 1"),
    (IQConfig, {"chi": 0.0}, "objective.chi must be positive"),
    (BCConfig, {"validation": 1.0}, r"objective.validation must lie in \[0, 1\)"),
    (BCConfig, {"patience": 10}, "objective.patience needs a validation share"),
    (BCConfig, {"patience": -1, "validation": 0.1}, "objective.patience must not be negative"),
    (ScheduleConfig, {"envs": 0}, "schedule.envs must be at least 1"),
    (ScheduleConfig, {"steps": 0}, "schedule.steps must be at least 1"),
    (ScheduleConfig, {"chunk": 0}, "schedule.chunk must be at least 1"),
    (ScheduleConfig, {"updates_per_step": 0}, "schedule.updates_per_step must be positive"),
    (ScheduleConfig, {"updates_per_step": math.inf}, "schedule.updates_per_step must be a finite"),
    (ScheduleConfig, {"random_steps": -1}, "schedule.random_steps must not be negative"),
    (ScheduleConfig, {"actor_start_update": -1}, "schedule.actor_start_update must not be negative"),
    (ScheduleConfig, {"bursts_per_episode": 0}, "schedule.bursts_per_episode must be at least 1"),
    (ScheduleConfig, {"assess_episodes": 0}, "schedule.assess_episodes must be at least 1"),
    (ScheduleConfig, {"eval_every": 0}, "schedule.eval_every must be at least 1"),
    (ScheduleConfig, {"replay": 1024}, "schedule.replay must exceed schedule.batch"),
    (ScheduleConfig, {"average_share": 0.5}, "average_share needs schedule.average_updates"),
    (ScheduleConfig, {"bursts_per_episode": 2}, "only with bursts_per_episode=1 and average_updates=0"),
    (ScheduleConfig, {"average_updates": 9}, "only with bursts_per_episode=1 and average_updates=0"),
]


@pytest.mark.parametrize(("kind", "changes", "message"), BAD)
def test_every_part_checks_itself(kind, changes, message):
    with pytest.raises(SfmError, match=f"^bad configuration: .*{message}"):
        kind(**changes)


def test_what_is_needed_may_come_together():
    late = {"assess_after": 10, "steps": 10}  # nothing is assessed
    ScheduleConfig(average_updates=9, average_share=0.5, bursts_per_episode=2, **late)
    SFMConfig(witness_window=9, witness_batch="independent")
    BCConfig(patience=10, validation=0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "fourrier"}, "did you mean 'fourier'|fourier"),
        ({"method": "fdm+"}, "feature method"),
        ({"method": "fdm+fdm"}, "stands twice"),
        ({"method": "fdm+adversarial"}, "adversarial features stand alone"),
        ({"bandwidths": ()}, "bandwidths must be positive numbers, at least one"),
        ({"bandwidths": (1.0, -1.0)}, "bandwidths must be positive"),
    ],
)
def test_feature_methods_that_do_not_go_together_are_refused(changes, message):
    with pytest.raises(SfmError, match=message):
        FeatureConfig(**changes)
