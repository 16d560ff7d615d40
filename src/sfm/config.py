"""Every choice that changes a result, as frozen dataclasses. Imports nothing heavy, so `--help` is instant.

A run is described by one `Config`: how to learn (`learner`), what to learn (`objective`), and when to do
what (`schedule`). The presets in `sfm.presets` are instances of it.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sfm.errors import SfmError, unknown
from sfm.retired import understood

__all__ = [
    "ActorCriticConfig",
    "BCConfig",
    "BCOConfig",
    "Config",
    "CostConfig",
    "DiscriminatorConfig",
    "FeatureConfig",
    "IQConfig",
    "InverseConfig",
    "LearnerConfig",
    "Normalise",
    "OPOLOConfig",
    "ObjectiveConfig",
    "RewardConfig",
    "SFMConfig",
    "ScheduleConfig",
    "StochasticConfig",
    "TD3Config",
    "TD7Config",
    "flat",
    "from_dict",
    "to_dict",
]

Init = Literal["orthogonal", "lecun"]
Twins = Literal["first", "mean", "min"]
Normalise = Literal["none", "features", "all"]
Needs = Literal["nothing", "states", "actions"]  # of demonstrations


@dataclass(frozen=True)
class ActorCriticConfig:
    """What every learner has."""

    lr_actor: float = 3e-4
    lr_actor_final: float | None = None
    """`lr_actor` falls linearly to this until the run's last update, so that the policy comes to rest; none:
    it is constant."""
    lr_critic: float = 3e-4
    width: int = 256
    init: Init = "orthogonal"
    layer_norm: bool = False
    """LayerNorm before each activation of the critic."""
    actor_norm: bool = False
    """LayerNorm before each activation of the actor: large states cannot drive its tanh to the bounds."""
    pretanh_penalty: float = 0.0
    """Weight of the mean square of what the actor's tanh is given: keeps actions off their bounds, where the
    actor hardly learns."""
    actor_delay: int = 2
    """One actor step every so many critic steps."""
    actor_twin: Twins = "first"
    """Which of the twin critics the actor ascends."""


@dataclass(frozen=True)
class TD3Config(ActorCriticConfig):
    """TD3 for a vector critic: delayed deterministic actor, twin critics, Polyak targets."""

    kind: ClassVar[str] = "td3"
    depth: int = 2
    polyak: float = 0.005
    polyak_on: Literal["actor_steps", "every_step"] = "actor_steps"
    target_actor: Literal["online", "polyak"] = "online"
    """Which actor acts in the critic's target: the newest, or a moving average of them."""
    target_noise: float = 0.2
    target_noise_clip: float = 0.5
    explore_noise: float = 0.1


@dataclass(frozen=True)
class TD7Config(ActorCriticConfig):
    """TD7 without prioritised replay: SALE embeddings, hard target copies, clipped targets."""

    kind: ClassVar[str] = "td7"
    lr_actor: float = 5e-4
    lr_critic: float = 5e-4
    init: Init = "lecun"
    lr_encoder: float = 1e-4
    embedding: int = 256
    target_interval: int = 250
    """Target networks, fixed encoders and clipping bounds are copied every so many updates."""
    target_noise: float = 0.2
    target_noise_clip: float = 0.5
    explore_noise: float = 0.1


@dataclass(frozen=True)
class StochasticConfig(ActorCriticConfig):
    """Tanh-Gaussian policy with an entropy bonus at a fixed temperature."""

    kind: ClassVar[str] = "stochastic"
    actor_delay: int = 1
    depth: int = 2
    polyak: float = 0.005
    temperature: float = 0.2
    log_std_min: float = -2.5
    log_std_max: float = 2.5
    tanh_correction: bool = False
    """Add the Jacobian of tanh to the log-probability (the authors' code leaves it out)."""


LearnerConfig = TD3Config | TD7Config | StochasticConfig


@dataclass(frozen=True)
class FeatureConfig:
    """The base features phi and how they are learned."""

    method: Literal["fdm", "idm", "ae", "random", "hr", "adversarial"] = "fdm"
    dim: int = 128
    width: int = 1024
    depth: int = 3
    head_width: int = 1024
    lr: float = 3e-4
    interval: int = 1
    """One feature step every so many updates."""
    centre: bool = False
    """Subtract the running mean of phi over replay (always on for `hr`)."""
    state_weight: float = 0.0
    """Above 0: the state, as phi sees it, times this stands beside phi, so that its mean is matched too."""
    alive_weight: float = 0.0
    """Above 0, where episodes can end before their time limit: a feature that has this value until they do,
    so that the policy learns to last as long as the expert."""
    # Hilbert representations
    hr_discount: float = 0.98
    hr_expectile: float = 0.5
    hr_polyak: float = 0.005
    # adversarial features
    penalty: float = 10.0
    penalty_norm: float = 0.4
    lr_final: float = 1e-7
    """Adversarial only: `lr` falls linearly to this over `decay_updates` refreshes."""
    decay_updates: int = 100
    refresh_batch: int = 4096


@dataclass(frozen=True)
class SFMConfig:
    """Successor Feature Matching: cumulant phi(s), weight = the witness."""

    kind: ClassVar[str] = "sfm"
    needs: ClassVar[Needs] = "states"
    looks_ahead: ClassVar[bool] = True  # n_step above 1 works: it has `Objective.cumulant`
    features: FeatureConfig = field(default_factory=FeatureConfig)
    ema: float = 0.98
    """Decay of the averages of the expert's and the policy's successor features."""
    witness_batch: Literal["same", "independent"] = "same"
    """Estimate the policy's features on the actor's minibatch (authors) or on another one (paper)."""
    actor_loss: Literal["witness", "witness_flow"] = "witness_flow"
    """`witness`: <EMA witness, psi>; `witness_flow`: its gradient also through the newest term of the
    average (authors)."""
    bootstrap: Literal["target", "online"] = "target"
    """Which psi values s' in the telescoping estimator."""
    tail: Literal["bootstrap", "truncate"] = "bootstrap"
    """What follows the demonstration's last state: psi of the policy, or nothing."""
    match_from: Literal["start", "visits"] = "start"
    """Match successor features from the start states (the paper: the expert's by a discounted sum, the
    policy's by telescoping); or, `visits`, the mean features of the states that demonstrations and replay
    hold."""
    witness_window: int = 0
    """The independent minibatch is drawn from so many of the newest transitions; 0: from all."""
    expert_interval: int = 1
    """Recompute phi of the expert's states every so many actor steps, and once per chunk of updates."""
    critics: Literal[1, 2] = 2
    """Networks that learn psi; the mean of their targets is the target of both."""
    witness_error_weight: float = 0.0
    """Weight of the squared error of psi along the witness, beside its mean over all dimensions: the actor
    climbs that one direction of many."""
    scale_psi: bool = False
    """Learn (1 - gamma) * psi, which has the scale of phi."""
    unit_witness: bool = False
    """Scale the witness to unit length (eq. 5 of the paper with B = 1)."""
    refresh_every: int = 10_000
    """Adversarial features: environment steps between refreshes on fresh episodes."""
    refresh_episodes: int = 4
    refresh_counted: bool = True
    """Count the refresh episodes in the step budget (the authors do not)."""


@dataclass(frozen=True)
class RewardConfig:
    """The environment's reward, d = 1: plain RL, used to train experts."""

    kind: ClassVar[str] = "reward"
    needs: ClassVar[Needs] = "nothing"
    looks_ahead: ClassVar[bool] = True


@dataclass(frozen=True)
class CostConfig:
    """A network that learns to be low on the expert's states and high on the policy's."""

    width: int = 256
    depth: int = 2
    activation: Literal["relu", "tanh"] = "relu"
    loss: Literal["ipm", "js"] = "ipm"
    """`ipm`: the difference of mean costs (authors' code); `js`: Jensen-Shannon, by cross-entropy (paper)."""
    penalty: float = 10.0
    """Weight of the gradient penalty, which draws the norm of the cost's gradient to `penalty_norm`."""
    penalty_norm: float = 0.4
    entropy: float = 0.0
    """Weight of the entropy of the classification whose logit the cost is."""
    optimizer: Literal["adam", "optimistic"] = "adam"
    """`optimistic`: Optimistic Adam (paper), for this network only."""
    lr: float = 8e-4
    lr_final: float | None = 1e-7
    """`lr` falls linearly to this over `decay_updates` steps of this network; none: it is constant."""
    decay_updates: int = 100


@dataclass(frozen=True)
class DiscriminatorConfig:
    """Reward = minus a cost trained on fresh episodes, d = 1: state-only moment matching, or GAIfO."""

    kind: ClassVar[str] = "discriminator"
    needs: ClassVar[Needs] = "states"
    looks_ahead: ClassVar[bool] = True
    sees: Literal["state", "pair"] = "state"
    """The cost sees s (moment matching) or s and s' (GAIfO)."""
    cost: CostConfig = field(default_factory=CostConfig)
    refresh_every: int = 10_000
    """Environment steps between refreshes of the cost on fresh episodes."""
    refresh_episodes: int = 4
    refresh_counted: bool = True
    """Count the refresh episodes in the step budget (the authors do not)."""
    refresh_updates: int = 1
    """Steps of the cost per refresh."""
    refresh_batch: int = 4096
    """States of the policy, and as many of the expert, per step of the cost."""


@dataclass(frozen=True)
class InverseConfig:
    """A model of the action between two states."""

    width: int = 256
    lr: float = 3e-4
    decay: float = 1e-3
    """Weight of half the squared norm of all its parameters."""


@dataclass(frozen=True)
class OPOLOConfig:
    """OPOLO: off-policy, with a cost on pairs from replay and a penalty that clones inferred actions."""

    kind: ClassVar[str] = "opolo"
    needs: ClassVar[Needs] = "states"
    looks_ahead: ClassVar[bool] = False
    cost: CostConfig = field(
        default_factory=lambda: CostConfig(
            activation="tanh", loss="js", penalty_norm=1.0, entropy=1e-3, lr=3e-4, lr_final=None
        )
    )
    cost_interval: int = 50
    """One step of the cost every so many updates."""
    inverse: InverseConfig = field(default_factory=InverseConfig)
    inverse_interval: int = 10
    """One step of the inverse model every so many updates,"""
    inverse_first: int = 2_500
    """but one per update in the first so many."""
    alpha: float = 0.1
    """The critic lowers, and the actor raises, 2 alpha (1 - gamma) Q(s, pi(s))."""
    clone: float = 0.1
    """Weight of the penalty on the actor's distance from the actions inferred for the expert."""


@dataclass(frozen=True)
class IQConfig:
    """IQ-Learn: a soft Q function whose implied reward sets the expert apart, d = 1; needs actions."""

    kind: ClassVar[str] = "iq"
    needs: ClassVar[Needs] = "actions"
    looks_ahead: ClassVar[bool] = False
    value_term: Literal["value", "value_expert", "v0"] = "value"
    """Which states' V - gamma V' is lowered: all, or the expert's; `v0`: (1 - gamma) V of the expert's."""
    chi: float = 0.5
    """c in the chi-square term, E rho^2 / (4 c) of the implied reward rho."""
    chi_over: Literal["all", "expert"] = "all"
    """Whose implied reward is squared; the expert's alone may diverge."""
    bootstrap: Literal["target", "online"] = "target"
    """Which Q values s'; `online` learns through it, as the objective is published."""
    twins: Twins = "first"
    """How twin critics give V; `first` learns and uses a single one."""


@dataclass(frozen=True)
class BCConfig:
    """Behaviour cloning: the squared error to the expert's actions, without episodes; a step is an update."""

    kind: ClassVar[str] = "bc"
    needs: ClassVar[Needs] = "actions"
    looks_ahead: ClassVar[bool] = False
    validation: float = 0.0
    """The last part of each demonstration to hold out; the policy that does best on it is kept."""
    patience: int = 0
    """Stop after so many updates without a better validation loss; 0: never."""


@dataclass(frozen=True)
class BCOConfig:
    """Cloning from observation: the actions are inferred by a model that learns from the agent's episodes."""

    kind: ClassVar[str] = "bco"
    needs: ClassVar[Needs] = "states"
    looks_ahead: ClassVar[bool] = False
    inverse: InverseConfig = field(default_factory=InverseConfig)


ObjectiveConfig = (
    SFMConfig | RewardConfig | DiscriminatorConfig | OPOLOConfig | IQConfig | BCConfig | BCOConfig
)


@dataclass(frozen=True)
class ScheduleConfig:
    """When to act, update, assess, evaluate and save."""

    steps: int = 1_000_000
    """Environment steps, all environments together."""
    envs: int = 1
    random_steps: int = 10_000
    """Uniform random actions at first."""
    updates_per_step: float = 1.0
    bursts_per_episode: int = 1
    """Parts in which an episode is collected, with the updates that each has earned after it. 1: updates come
    in one burst per episode, as the paper's. More: the policy learns, and changes, while it acts, so that
    nothing is assessed."""
    actor_start_update: int = 0
    """Updates before the actor begins to learn: one with skill would lose it to a critic that is young."""
    batch: int = 1024
    replay: int = 1_000_000
    """Transitions kept."""
    chunk: int = 250
    """Updates per compiled call."""
    assess_after: int = 75_000
    """Until then the checkpoint policy is the latest; then one must pass the assessment. With as many as
    `steps` or more nothing is assessed, and it is always the latest, or the latest average."""
    assess_episodes: int = 3
    assess_relax: float = 1.1
    assess_by: Literal["min", "mean"] = "min"
    average_updates: int = 0
    """Above 0: the policy that is kept is a moving average of the weights over about so many updates, which
    does not swing as the one does that explores,"""
    average_share: float = 0.0
    """and at least over this share of all updates so far."""
    eval_every: int = 25_000
    eval_episodes: int = 10
    save_seconds: float = 60.0
    """Save a resumable checkpoint at least this far apart (0: after every round)."""

    @property
    def assesses(self) -> bool:
        """Whether policies have to pass an assessment to be kept."""
        return self.assess_after < self.steps


@dataclass(frozen=True)
class Config:
    """One run, whole."""

    task: str = ""
    preset: str = ""
    gamma: float = 0.99
    n_step: int = 1
    """Cumulants in a critic's target before its own value ends it."""
    normalise: Normalise = "none"
    """Which networks see states standardised by running statistics of replay: `none`, phi and what it is
    learned with (`features`), or `all`."""
    learner: LearnerConfig = field(default_factory=TD3Config)
    objective: ObjectiveConfig = field(default_factory=SFMConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    seed: int = 0
    seeds: int = 1
    """Train seeds seed .. seed+seeds-1 at once."""
    warm_start: str = "none"
    """`bc`: begin with an actor that has cloned the expert's actions; or the policy to go on from: a task's
    bundled expert by its name, a run's folder or a policy file."""
    warm_start_updates: int = 5_000
    """Of the cloning, before the first step."""

    @property
    def updates(self) -> int:
        """Of the whole run, or a little more: its random steps earn none."""
        return round(self.schedule.steps * self.schedule.updates_per_step)

    @property
    def begins_with_policy(self) -> bool:
        return self.warm_start not in ("none", "bc")

    @property
    def needs(self) -> Needs:
        """What of demonstrations this run needs."""
        return "actions" if self.warm_start == "bc" else self.objective.needs

    def __post_init__(self) -> None:
        s, learner = self.schedule, self.learner
        checks = [
            (0.0 <= self.gamma < 1.0, f"gamma must lie in [0, 1), not {self.gamma}"),
            (self.n_step >= 1, "n_step must be at least 1"),
            (
                self.n_step == 1 or self.objective.looks_ahead,
                f"n_step above 1 does not work with the objective '{self.objective.kind}'",
            ),
            (self.seeds >= 1, "seeds must be at least 1"),
            (self.seed >= 0, "seed must not be negative"),
            (self.seed + self.seeds <= 2**31, "seeds must stay below 2**31"),
            (self.warm_start_updates >= 0, "warm_start_updates must not be negative"),
            (s.random_steps >= 0, "random_steps must not be negative"),
            (s.envs >= 1 and s.steps >= 1 and s.batch >= 1, "envs, steps and batch must be at least 1"),
            (s.updates_per_step > 0, "updates_per_step must be positive"),
            (s.actor_start_update >= 0, "actor_start_update must not be negative"),
            (s.bursts_per_episode >= 1, "bursts_per_episode must be at least 1"),
            (
                _divides(learner.actor_delay, s.chunk),
                "schedule.chunk must be a multiple of learner.actor_delay",
            ),
            (s.replay > s.batch, "schedule.replay must exceed schedule.batch"),
            (s.eval_every >= 1 and s.eval_episodes >= 1, "eval_every and eval_episodes must be at least 1"),
            (s.assess_episodes >= 1, "assess_episodes must be at least 1"),
            (s.average_updates >= 0, "average_updates must not be negative"),
            (
                0.0 <= s.average_share <= (s.average_updates > 0),
                "average_share must lie in [0, 1] and needs average_updates",
            ),
            (
                not s.assesses or (s.bursts_per_episode == 1 and s.average_updates == 0),
                "assessing (assess_after < steps) goes only with bursts_per_episode=1 and average_updates=0",
            ),
            (
                self.normalise != "features" or isinstance(self.objective, SFMConfig),
                f"the objective '{self.objective.kind}' has no features: normalise must be none or all",
            ),
            (
                s.average_updates == 0 or not isinstance(self.objective, BCConfig),
                "average_updates does not work with the objective 'bc', which keeps what validates best",
            ),
        ]
        for name in ("refresh_every", "refresh_episodes", "refresh_updates", "refresh_batch"):
            checks.append((getattr(self.objective, name, 1) >= 1, f"objective.{name} must be at least 1"))
        if isinstance(learner, TD7Config):
            fits = _divides(learner.target_interval, s.chunk)
            checks.append((fits, "schedule.chunk must be a multiple of learner.target_interval"))
        if isinstance(self.objective, SFMConfig):
            fits = _divides(self.objective.features.interval, s.chunk)
            checks.append((fits, "schedule.chunk must be a multiple of objective.features.interval"))
            checks.append((self.objective.critics in (1, 2), "objective.critics must be 1 or 2"))
            checks.append((self.objective.expert_interval >= 1, "expert_interval must be at least 1"))
            checks.append(
                (
                    self.objective.witness_error_weight >= 0,
                    "objective.witness_error_weight must not be negative",
                )
            )
            checks.append((0.0 <= self.objective.ema < 1.0, "objective.ema must lie in [0, 1)"))
            free = self.objective.witness_batch == "independent"
            fits = free or self.objective.witness_window == 0
            checks.append((fits, "objective.witness_window needs objective.witness_batch independent"))
        if isinstance(self.objective, BCConfig):
            share, patience = self.objective.validation, self.objective.patience
            checks.append((0.0 <= share < 1.0, f"validation must lie in [0, 1), not {share}"))
            checks.append((patience == 0 or share > 0, "patience needs a validation share"))
            checks.append((patience >= 0, "patience must not be negative"))
        if isinstance(self.objective, IQConfig):
            checks.append((self.objective.chi > 0, "objective.chi must be positive"))
        if isinstance(self.objective, OPOLOConfig):
            for name in ("cost_interval", "inverse_interval"):
                fits = _divides(getattr(self.objective, name), s.chunk)
                checks.append((fits, f"schedule.chunk must be a multiple of objective.{name}"))
        for part in (learner, self.objective, getattr(self.objective, "features", None)):
            checks += _sizes(part) if part else []
        numbers = [(name, value) for name, value in flat(to_dict(self)) if isinstance(value, float)]
        finite = [(math.isfinite(v), f"{name} must be a finite number, not {v}") for name, v in numbers]
        for ok, message in [*finite, *checks]:
            if not ok:
                raise SfmError(f"bad configuration: {message}.")


def _sizes(part: Any) -> list[tuple[bool, str]]:
    """Checks of its rates and sizes, whatever it is."""
    values = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    rates = [(v is None or v > 0, f"{k} must be positive") for k, v in values.items() if k in RATES]
    rates += [(0 <= v <= 1, f"{k} must lie in [0, 1]") for k, v in values.items() if k in SHARES]
    return rates + [(v >= 1, f"{k} must be at least 1") for k, v in values.items() if k in SIZES]


RATES = ("lr", "lr_actor", "lr_actor_final", "lr_critic", "lr_encoder")
SHARES = ("polyak", "hr_polyak")
SIZES = ("width", "depth", "head_width", "dim", "embedding")


def _divides(interval: int, chunk: int) -> bool:
    """Updates are counted within a chunk, so what is due now and then must come out even."""
    return interval >= 1 and chunk >= 1 and chunk % interval == 0


def flat(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a nested dict, by their dotted names."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def to_dict(config: Any) -> dict[str, Any]:
    """A JSON-ready dict; a learner or objective carries its `kind`."""
    out: dict[str, Any] = {"kind": config.kind} if hasattr(config, "kind") else {}
    for f in dataclasses.fields(config):
        value = getattr(config, f.name)
        out[f.name] = to_dict(value) if dataclasses.is_dataclass(value) else value
    return out


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a plain type; other types are not judged."""
    if isinstance(kind, types.UnionType):
        return any(_fits(value, option) for option in typing.get_args(kind))
    if kind is type(None):
        return value is None
    if dataclasses.is_dataclass(kind):
        return isinstance(value, dict)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind) if kind in (bool, str) else True


def from_dict(kind: Any, data: dict[str, Any], training: bool = True) -> Any:
    """The inverse of `to_dict`; a field we do not know is an error, not a guess.

    Files of earlier versions are understood as in `sfm.retired`; not `training`: to act only.
    """
    if not isinstance(data, dict):
        raise SfmError(f"a configuration must be a JSON object, not {data!r}")
    if isinstance(kind, types.UnionType):
        options = {option.kind: option for option in typing.get_args(kind)}
        name = data.get("kind", "")
        if name not in options:
            raise unknown("kind", str(name), options)
        kind = options[name]
    data = understood(kind, {k: v for k, v in data.items() if k != "kind"}, training)
    hints = typing.get_type_hints(kind)
    known = {f.name for f in dataclasses.fields(kind)}
    for name, value in data.items():
        if name not in known:
            raise unknown(f"{kind.__name__} field", name, known)
        if typing.get_origin(hints[name]) is Literal and value not in typing.get_args(hints[name]):
            raise unknown(f"{kind.__name__}.{name}", str(value), map(str, typing.get_args(hints[name])))
        if not _fits(value, hints[name]):
            wanted = getattr(hints[name], "__name__", hints[name])
            raise SfmError(f"{kind.__name__}.{name} must be {wanted}, not {value!r}")
    inner = {k: from_dict(hints[k], v, training) for k, v in data.items() if isinstance(v, dict)}
    return kind(**(data | inner))
