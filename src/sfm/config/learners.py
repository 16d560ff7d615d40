"""How to learn: what a TD3, TD7 or stochastic learner can be told."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfm.config.checks import AtLeastOne, NotNegative, Positive, PositiveOrNone, Share, check, require

Init = Literal["orthogonal", "lecun"]
Twins = Literal["first", "mean", "min"]


@dataclass(frozen=True)
class ActorCriticConfig:
    """What every learner has."""

    intervals: ClassVar[tuple[str, ...]] = ("actor_delay",)  # each must divide a chunk of updates
    lr_actor: Positive = 3e-4
    """The actor learns at this rate."""
    lr_actor_final: PositiveOrNone = None
    """The actor's rate falls linearly to this value until the run's last update, so that the policy comes to
    rest; with none the rate is constant."""
    lr_critic: Positive = 3e-4
    """The critics learn at this rate."""
    width: AtLeastOne = 256
    """Each hidden layer of the actor and the critics has this many units."""
    init: Init = "orthogonal"
    """Weights start as orthogonal matrices, or as normal numbers scaled by their layer's inputs (`lecun`)."""
    layer_norm: bool = False
    """The critics have LayerNorm before each activation."""
    actor_norm: bool = False
    """The actor has LayerNorm before each activation, so that large states cannot drive its tanh to the
    bounds."""
    pretanh_penalty: NotNegative = 0.0
    """The actor's loss has the mean square of what enters its tanh with this weight, which keeps actions off
    their bounds, where the actor hardly learns."""
    actor_delay: AtLeastOne = 2
    """The actor takes one step per this many steps of the critics."""
    actor_twin: Twins = "first"
    """The actor ascends the first of the twin critics, their mean or their minimum."""

    def __post_init__(self) -> None:
        check(self, "learner")


@dataclass(frozen=True)
class DeterministicConfig(ActorCriticConfig):
    """What `td3` and `td7` have besides: noise, added to what their deterministic actor does."""

    target_noise: NotNegative = 0.2
    """Actions in the critic's target get normal noise with this standard deviation."""
    target_noise_clip: NotNegative = 0.5
    """The noise in the critic's target is clipped to this size."""
    explore_noise: NotNegative = 0.1
    """Actions in training get normal noise with this standard deviation, where 1 is half of an actuator's
    range."""


@dataclass(frozen=True)
class TD3Config(DeterministicConfig):
    """TD3 for a vector critic: delayed deterministic actor, twin critics, Polyak targets."""

    kind: ClassVar[str] = "td3"
    depth: AtLeastOne = 2
    """The actor and the critics have this many hidden layers."""
    polyak: Share = 0.005
    """Target networks move by this share of the way to the trained networks at a time."""
    polyak_on: Literal["actor_steps", "every_step"] = "actor_steps"
    """Target networks move at each step of the actor, or at every update."""
    target_actor: Literal["online", "polyak"] = "online"
    """The newest actor acts in the critic's target (`online`), or a moving average of actors (`polyak`)."""


@dataclass(frozen=True)
class TD7Config(DeterministicConfig):
    """TD7 without prioritised replay: SALE embeddings, hard target copies, clipped targets."""

    kind: ClassVar[str] = "td7"
    intervals: ClassVar[tuple[str, ...]] = ("actor_delay", "target_interval")
    lr_actor: Positive = 5e-4
    lr_critic: Positive = 5e-4
    init: Init = "lecun"
    lr_encoder: Positive = 1e-4
    """The encoders of states and of state-action pairs learn at this rate."""
    embedding: AtLeastOne = 256
    """The embeddings of states and of state-action pairs have this many numbers."""
    target_interval: AtLeastOne = 250
    """Target networks, fixed encoders and clipping bounds are copied after this many updates each time."""


@dataclass(frozen=True)
class StochasticConfig(ActorCriticConfig):
    """Tanh-Gaussian policy with an entropy bonus at a fixed temperature."""

    kind: ClassVar[str] = "stochastic"
    actor_delay: AtLeastOne = 1
    depth: AtLeastOne = 2
    """The actor and the critics have this many hidden layers."""
    polyak: Share = 0.005
    """Target networks move by this share of the way to the trained networks at every update."""
    temperature: NotNegative = 0.2
    """The policy's entropy has this weight."""
    log_std_min: float = -2.5
    """The logarithm of the policy's standard deviation, before its tanh, lies above this value."""
    log_std_max: float = 2.5
    """The logarithm of the policy's standard deviation, before its tanh, lies below this value."""
    tanh_correction: bool = False
    """The log-probability includes the Jacobian of tanh, which the authors' code leaves out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        ordered = self.log_std_min <= self.log_std_max
        require(ordered, "learner.log_std_min must not exceed learner.log_std_max")


LearnerConfig = TD3Config | TD7Config | StochasticConfig
