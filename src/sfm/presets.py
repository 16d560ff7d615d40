"""Named configurations: the paper's values, ones found for CPUs, and those that train experts."""

import dataclasses

from sfm.config import (
    Config,
    FeatureConfig,
    RewardConfig,
    ScheduleConfig,
    SFMConfig,
    StochasticConfig,
    TD3Config,
    TD7Config,
)
from sfm.errors import unknown

__all__ = ["DEFAULT", "PRESETS", "preset"]

DEFAULT = "sfm-td3-cpu"


def _paper(learner, gamma: float, features: FeatureConfig, **objective) -> Config:
    return Config(gamma=gamma, learner=learner, objective=SFMConfig(features=features, **objective))


def _cpu(learner, gamma: float = 0.98, **objective) -> Config:
    """Small networks and batches, psi at the scale of phi, phi centred: a tenth of the work per update."""
    features = FeatureConfig(width=128, depth=2, head_width=128, lr=5e-4, normalise=True, centre=True)
    settings = {
        "features": features,
        "match_from": "anywhere",
        "actor_loss": "witness",
        "scale_psi": True,
        "unit_witness": True,
        "expert_interval": 25,
    }
    return Config(
        gamma=gamma,
        learner=learner,
        objective=SFMConfig(**(settings | objective)),
        schedule=ScheduleConfig(
            steps=150_000,
            random_steps=5_000,
            batch=128,
            assess_after=20_000,
            eval_every=10_000,
            eval_episodes=5,
        ),
    )


def _expert(learner, **schedule) -> Config:
    timing = {
        "steps": 1_000_000,
        "envs": 4,
        "random_steps": 8_000,
        "updates_per_step": 0.5,
        "batch": 256,
        "assess_after": 0,
        "assess_episodes": 4,
        "assess_by": "mean",
        "eval_every": 20_000,
    }
    return Config(learner=learner, objective=RewardConfig(), schedule=ScheduleConfig(**(timing | schedule)))


PRESETS: dict[str, Config] = {
    "sfm-td7": _paper(TD7Config(), 0.99, FeatureConfig(lr=1e-4), bootstrap="online"),
    "sfm-td3": _paper(TD3Config(), 0.995, FeatureConfig()),
    "sfm-stochastic": _paper(StochasticConfig(), 0.995, FeatureConfig(), ema=0.95, actor_loss="witness"),
    "sfm-td3-cpu": _cpu(
        TD3Config(width=128, layer_norm=True, lr_actor=5e-4, lr_critic=5e-4, explore_noise=0.2)
    ),
    "sfm-td7-cpu": _cpu(TD7Config(width=128, embedding=128, lr_encoder=3e-4, explore_noise=0.2)),
    "sfm-stochastic-cpu": _cpu(
        StochasticConfig(width=128, layer_norm=True, lr_actor=5e-4, lr_critic=5e-4, temperature=0.01)
    ),
    "expert-td3": _expert(
        TD3Config(target_actor="polyak", polyak_on="every_step", layer_norm=True, explore_noise=0.2)
    ),
    "expert-td7": _expert(
        TD7Config(
            lr_actor=3e-4,
            lr_critic=3e-4,
            lr_encoder=3e-4,
            actor_activation="relu",
            actor_twin="mean",
            explore_noise=0.2,
        )
    ),
}


def preset(name: str, **changes) -> Config:
    """The preset called `name`, with top-level fields of `Config` replaced."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return dataclasses.replace(PRESETS[name], preset=name, **changes)
