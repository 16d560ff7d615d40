"""Named configurations: the paper's values, ones found for CPUs, and those that train experts."""

from dataclasses import replace

from sfm.config import (
    BCConfig,
    BCOConfig,
    Config,
    CostConfig,
    DiscriminatorConfig,
    FeatureConfig,
    InverseConfig,
    IQConfig,
    Normalise,
    OPOLOConfig,
    RewardConfig,
    ScheduleConfig,
    SFMConfig,
    StochasticConfig,
    TD3Config,
    TD7Config,
)
from sfm.errors import unknown

DEFAULT = "general"
N_STEP = 3  # in the CPU presets of every objective that can, and for experts
LATEST = 10**9  # assess_after: the checkpoint policy is always the latest, or the latest average

NETWORKS = {"width": 128, "layer_norm": True, "lr_actor": 5e-4, "lr_critic": 5e-4}  # of the CPU presets
SMALL = {
    "td3": NETWORKS | {"actor_norm": True, "polyak": 0.03, "polyak_on": "every_step", "explore_noise": 0.2},
    "td7": NETWORKS | {"embedding": 128, "target_interval": 50, "lr_encoder": 3e-4, "explore_noise": 0.2},
}

CPU_SCHEDULE = ScheduleConfig(
    steps=100_000,
    random_steps=5_000,
    bursts_per_episode=10,
    batch=64,
    chunk=100,
    assess_after=LATEST,
    average_updates=500,
    eval_every=10_000,
    eval_episodes=5,
)
EXPERT_SCHEDULE = ScheduleConfig(envs=4, random_steps=8_000, batch=128, eval_every=20_000)


def _paper(learner, gamma: float, features: FeatureConfig, **objective) -> Config:
    return Config(gamma=gamma, learner=learner, objective=SFMConfig(features=features, **objective))


def _cpu(learner, size: int = 64, interval: int = 1, **objective) -> Config:
    """Small networks and batches, psi at the scale of phi, phi centred: about a hundredth of the work.

    Learning is sped up by targets of three steps, the state beside phi, and a witness that compares the
    states visited recently (docs/fast.md says why). `size` is that of phi and of minibatches; phi learns
    every `interval` updates.
    """
    features = FeatureConfig(
        dim=size,
        width=128,
        depth=2,
        head_width=128,
        lr=5e-4,
        interval=interval,
        centre=True,
        state_weight=3.0,
        alive_weight=10.0,
    )
    matching = SFMConfig(
        features=features,
        match_from="visits",
        witness_batch="independent",
        witness_window=10_000,
        actor_loss="witness",
        witness_error_weight=1.0,
        scale_psi=True,
        unit_witness=True,
        expert_interval=25,
    )
    return Config(
        gamma=0.98,
        n_step=N_STEP,
        normalise="features",
        learner=learner,
        objective=replace(matching, **objective),
        schedule=replace(CPU_SCHEDULE, batch=size, steps=150_000),
    )


def _baseline(learner, objective: DiscriminatorConfig | OPOLOConfig, batch: int = 1024) -> Config:
    schedule = ScheduleConfig(batch=batch, assess_after=LATEST)
    return Config(learner=learner, objective=objective, schedule=schedule)


def _small(learner, objective: DiscriminatorConfig | OPOLOConfig, normalise: Normalise = "all") -> Config:
    """A baseline with the sizes, rates and schedule of `sfm-td3-cpu`, but for its action penalty.

    Its cost sees standardised states, as phi does there.
    """
    return Config(
        gamma=0.98,
        n_step=N_STEP if objective.looks_ahead else 1,
        normalise=normalise,
        learner=replace(learner, **SMALL[learner.kind]),
        objective=objective,
        schedule=CPU_SCHEDULE,
    )


MM_TD3 = TD3Config(init="lecun", target_actor="polyak", polyak_on="every_step")
GAIFO_TD7 = TD7Config(lr_actor=3e-4, lr_critic=3e-4)
# 350: two layers with as many parameters as the authors' 400 and 300 units
OPOLO_TD3 = TD3Config(width=350, init="lecun", target_noise=0.0, actor_twin="min")

# A fifth of the budget goes into fresh episodes; the cost takes as many steps as in the paper's long runs.
SMALL_MM = DiscriminatorConfig(
    cost=CostConfig(width=128), refresh_every=5_000, refresh_episodes=1, refresh_updates=5
)
SMALL_GAIFO = replace(SMALL_MM, sees="pair")
SMALL_OPOLO = OPOLOConfig(cost=replace(OPOLOConfig().cost, width=128), inverse=InverseConfig(width=128))

IQ_LEARNER = StochasticConfig(
    lr_actor=3e-5, temperature=0.01, log_std_min=-5.0, log_std_max=2.0, tanh_correction=True
)

SMALL_TD3 = TD3Config(**SMALL["td3"])
SMALL_SFM_TD3 = replace(SMALL_TD3, pretanh_penalty=0.003)
# What imitates fastest on two cores (docs/fast.md): sfm-td3-cpu with a third less work per update, and four
# environments, which one core steps while the other learns.
FAST_TD3 = replace(SMALL_SFM_TD3, polyak=0.1, lr_actor_final=5e-5)
FAST = replace(
    _cpu(FAST_TD3, interval=2, critics=1, witness_window=40_000),
    normalise="all",
    schedule=replace(
        CPU_SCHEDULE, steps=400_000, envs=4, updates_per_step=0.25, average_share=0.1, eval_every=20_000
    ),
)
# What matches the distribution of states instead of its mean, on all bodies (docs/fast.md).
GENERAL = replace(
    FAST,
    action_repeat=0,
    learner=replace(FAST_TD3, width=256),
    objective=replace(
        FAST.objective,
        features=FeatureConfig(
            method="steps+landmarks",
            dim=160,
            width=128,
            depth=2,
            head_width=128,
            coordinates=(1, 2, 0),
            bandwidths=(0.2, 0.7),
            centre=True,
            state_weight=3.0,
            state_by="observation",
            alive_weight=10.0,
        ),
        witness_window=0,
        witness_share=0.2,
        witness_newest=8_000,
    ),
    schedule=replace(
        FAST.schedule, batch=128, random_steps=10_000, bouts=0.2, reset_share=0.5, likeness_from=0.8
    ),
)

# The other policy optimizers, with the sizes, rates and penalty of `general`.
WIDE = {"width": 256, "lr_actor_final": 5e-5, "pretanh_penalty": 0.003}
GENERAL_TD7 = TD7Config(**SMALL["td7"] | WIDE)
GENERAL_STOCHASTIC = StochasticConfig(**NETWORKS | WIDE, temperature=0.01)
GENERAL_MM = DiscriminatorConfig(refresh_every=5_000, refresh_episodes=1, refresh_updates=5)


def _like_general(objective, learner=GENERAL.learner) -> Config:
    """A baseline with all that `general` has, but for the objective."""
    n_step = N_STEP if objective.looks_ahead else 1
    return replace(GENERAL, n_step=n_step, normalise="all", learner=learner, objective=objective)


PRESETS: dict[str, Config] = {
    "general": GENERAL,
    "fast": FAST,
    "general-td7": replace(GENERAL, learner=GENERAL_TD7),
    "general-stochastic": replace(GENERAL, learner=GENERAL_STOCHASTIC),
    "mm-general": _like_general(GENERAL_MM),
    "mm-general-td7": _like_general(GENERAL_MM, GENERAL_TD7),
    "gaifo-general": _like_general(replace(GENERAL_MM, sees="pair")),
    "gaifo-general-td7": _like_general(replace(GENERAL_MM, sees="pair"), GENERAL_TD7),
    "opolo-general": _like_general(OPOLOConfig()),
    "iq-general": _like_general(IQConfig(), replace(IQ_LEARNER, width=256, layer_norm=True)),
    "bco-general": _like_general(BCOConfig()),
    "sfm-td7": _paper(TD7Config(), 0.99, FeatureConfig(lr=1e-4), bootstrap="online"),
    "sfm-td3": _paper(TD3Config(), 0.995, FeatureConfig()),
    "sfm-stochastic": _paper(StochasticConfig(), 0.995, FeatureConfig(), ema=0.95, actor_loss="witness"),
    "sfm-td3-cpu": _cpu(SMALL_SFM_TD3),
    "sfm-td7-cpu": _cpu(TD7Config(**SMALL["td7"]), size=128),
    "sfm-stochastic-cpu": _cpu(StochasticConfig(**NETWORKS, temperature=0.01), size=128),
    "expert-td3": Config(
        n_step=N_STEP,
        learner=replace(SMALL_TD3, target_actor="polyak", polyak=0.005, actor_norm=False),
        objective=RewardConfig(),
        schedule=replace(EXPERT_SCHEDULE, assess_after=0, assess_episodes=4, assess_by="mean"),
    ),
    "mm-td7": _baseline(TD7Config(), DiscriminatorConfig()),
    "mm-td3": _baseline(MM_TD3, DiscriminatorConfig()),
    "gaifo-td7": _baseline(GAIFO_TD7, DiscriminatorConfig(sees="pair")),
    "gaifo-td3": _baseline(MM_TD3, DiscriminatorConfig(sees="pair")),
    "opolo-td3": _baseline(OPOLO_TD3, OPOLOConfig(), batch=100),
    "mm-td7-cpu": _small(TD7Config(), SMALL_MM),
    "mm-td3-cpu": _small(MM_TD3, SMALL_MM),
    "gaifo-td7-cpu": _small(GAIFO_TD7, SMALL_GAIFO),
    "gaifo-td3-cpu": _small(MM_TD3, SMALL_GAIFO),
    "opolo-td3-cpu": _small(OPOLO_TD3, SMALL_OPOLO, normalise="none"),
    "iq-learn": Config(
        learner=IQ_LEARNER,
        objective=IQConfig(),
        schedule=ScheduleConfig(batch=256, replay=500_000, random_steps=0, assess_after=LATEST),
    ),
    "iq-learn-cpu": Config(
        gamma=0.98,
        learner=replace(IQ_LEARNER, width=128, layer_norm=True),
        objective=IQConfig(),
        schedule=CPU_SCHEDULE,
    ),
    "bc": Config(
        learner=TD3Config(actor_delay=1),
        objective=BCConfig(),
        schedule=ScheduleConfig(steps=20_000, batch=256, replay=10_000, eval_every=5_000),
    ),
    "bco": Config(learner=replace(SMALL_TD3, actor_delay=1), objective=BCOConfig(), schedule=CPU_SCHEDULE),
}


def preset(name: str, **changes) -> Config:
    """The preset called `name`, with top-level fields of `Config` replaced."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return replace(PRESETS[name], preset=name, **changes)
