"""What to learn: Successor Feature Matching, its baselines, and the environment's reward."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sfm.config.checks import (
    AtLeastOne,
    BelowOne,
    NotNegative,
    NotNegativeInt,
    Positive,
    Share,
    check,
    require,
)
from sfm.config.learners import Twins
from sfm.config.parts import CostConfig, FeatureConfig, InverseConfig

Needs = Literal["nothing", "states", "actions"]


class ObjectiveDefaults:
    """What holds of an objective that does not say otherwise."""

    needs: ClassVar[Needs] = "states"  # of demonstrations
    looks_ahead: ClassVar[bool] = False  # works with `n_step` above 1, because it has `Objective.cumulant`
    intervals: ClassVar[tuple[str, ...]] = ()  # each must divide a chunk of updates

    @property
    def needs_whole_states(self) -> str:
        """Why demonstrations must have all dimensions of a state, or nothing if a part is enough."""
        return "it learns the expert's actions at whole states" if self.needs == "actions" else ""

    @property
    def follows_run(self) -> bool:
        """Whether a learning rate falls over the run's own length."""
        return any(getattr(part, "follows_run", False) for part in vars(self).values())

    def __post_init__(self) -> None:
        check(self, "objective")


@dataclass(frozen=True)
class SFMConfig(ObjectiveDefaults):
    """Successor Feature Matching: cumulant phi(s), weight = the witness."""

    kind: ClassVar[str] = "sfm"
    looks_ahead: ClassVar[bool] = True
    intervals: ClassVar[tuple[str, ...]] = ("features.interval",)
    features: FeatureConfig = field(default_factory=FeatureConfig)
    """The base features phi turn a state into what is matched."""
    ema: BelowOne = 0.98
    """The averages of the expert's and the policy's successor features decay by this factor per step."""
    witness_batch: Literal["same", "independent"] = "same"
    """The policy's features are estimated on the actor's minibatch (the authors' code) or on another one
    (the paper)."""
    actor_loss: Literal["witness", "witness_flow"] = "witness_flow"
    """The actor ascends psi along the averaged witness; with `witness_flow` its gradient also flows through
    the newest term of that average (the authors' code)."""
    bootstrap: Literal["target", "online"] = "target"
    """The telescoping estimator takes psi of the next state from the target networks or the online ones."""
    tail: Literal["bootstrap", "truncate"] = "bootstrap"
    """After a demonstration's last state comes psi of the policy, or nothing."""
    match_from: Literal["start", "visits"] = "start"
    """What is matched is successor features from the start states (the paper: the expert's by a discounted
    sum, the policy's by telescoping), or the mean features of the states in demonstrations and in replay
    (`visits`)."""
    witness_window: NotNegativeInt = 0
    """The independent minibatch comes from this many of the newest visits, and with 0 from all."""
    witness_share: Share = 1.0
    """The window is this share of all visits when the run ends; it begins as all of them and its share
    falls linearly, so that the learner first has a witness that stands still and in the end one that tells
    what the policy does now; with 1 it stays all of them."""
    witness_newest: NotNegativeInt = 0
    """Half of the independent minibatch comes from this many of the newest visits and half from the window,
    so that the witness also tells what is missing now, and the policy swings less; with 0 all of it comes
    from the window."""
    expert_interval: AtLeastOne = 1
    """The features of the expert's states are computed anew every this many actor steps, and once per chunk
    of updates; with `visits`, and where there are more than 20,000 states, those of some, evenly spread."""
    critics: Literal[1, 2] = 2
    """This many networks learn psi, and the mean of their targets is the target of both."""
    witness_error_weight: NotNegative = 0.0
    """The critic's loss has the squared error of psi along the witness, the one direction of many that the
    actor ascends, with this weight."""
    scale_psi: bool = False
    """The critics learn (1 - gamma) * psi, which has the scale of phi."""
    unit_witness: bool = False
    """The witness is scaled to unit length (eq. 5 of the paper with B = 1)."""
    refresh_every: AtLeastOne = 10_000
    """Adversarial features are refreshed on new episodes after this many environment steps each time."""
    refresh_episodes: AtLeastOne = 4
    """A refresh of adversarial features plays this many episodes."""
    refresh_counted: bool = True
    """The episodes of a refresh count as steps of the run, which the authors do not do."""

    @property
    def needs_whole_states(self) -> str:
        tail = self.match_from == "start" and self.tail == "bootstrap"
        why = "objective.tail is bootstrap: the policy would have to act in the last state; choose truncate"
        return why if tail else ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, whole in (("witness_window", 0), ("witness_share", 1), ("witness_newest", 0)):
            fits = self.witness_batch == "independent" or getattr(self, name) == whole
            require(fits, f"objective.{name} needs objective.witness_batch independent")
        one = self.witness_window == 0 or self.witness_share == 1
        require(one, "give objective.witness_window or objective.witness_share, not both")


@dataclass(frozen=True)
class RewardConfig(ObjectiveDefaults):
    """The environment's reward, d = 1: plain RL, used to train experts."""

    kind: ClassVar[str] = "reward"
    needs: ClassVar[Needs] = "nothing"
    looks_ahead: ClassVar[bool] = True


@dataclass(frozen=True)
class DiscriminatorConfig(ObjectiveDefaults):
    """Reward = minus a cost trained on fresh episodes, d = 1: state-only moment matching, or GAIfO."""

    kind: ClassVar[str] = "discriminator"
    looks_ahead: ClassVar[bool] = True
    sees: Literal["state", "pair"] = "state"
    """The cost sees a state (moment matching), or a state and the next one (GAIfO)."""
    cost: CostConfig = field(default_factory=CostConfig)
    """The cost is a network that learns to be low on the expert's states and high on the policy's."""
    refresh_every: AtLeastOne = 10_000
    """The cost is refreshed on new episodes after this many environment steps each time."""
    refresh_episodes: AtLeastOne = 4
    """A refresh of the cost plays this many episodes."""
    refresh_counted: bool = True
    """The episodes of a refresh count as steps of the run, which the authors do not do."""
    refresh_updates: AtLeastOne = 1
    """The cost takes this many steps per refresh."""
    refresh_batch: AtLeastOne = 4096
    """A step of the cost sees this many states of the policy, and as many of the expert."""


@dataclass(frozen=True)
class OPOLOConfig(ObjectiveDefaults):
    """OPOLO: off-policy, with a cost on pairs from replay and a penalty that clones inferred actions."""

    kind: ClassVar[str] = "opolo"
    intervals: ClassVar[tuple[str, ...]] = ("cost_interval", "inverse_interval")
    cost: CostConfig = field(
        default_factory=lambda: CostConfig(
            activation="tanh", loss="js", penalty_norm=1.0, entropy=1e-3, lr=3e-4, lr_final=None
        )
    )
    """The cost is a network that learns to be low on the expert's states and high on the policy's."""
    cost_interval: AtLeastOne = 50
    """The cost takes one step per this many updates."""
    inverse: InverseConfig = field(default_factory=InverseConfig)
    """The inverse model infers the action between two states."""
    inverse_interval: AtLeastOne = 10
    """The inverse model takes one step per this many updates."""
    inverse_first: NotNegativeInt = 2_500
    """In this many first updates the inverse model takes a step at each."""
    alpha: NotNegative = 0.1
    """The critic lowers, and the actor raises, 2 alpha (1 - gamma) Q(s, pi(s))."""
    clone: NotNegative = 0.1
    """The actor's distance from the actions inferred for the expert is penalised with this weight."""


@dataclass(frozen=True)
class IQConfig(ObjectiveDefaults):
    """IQ-Learn: a soft Q function whose implied reward sets the expert apart, d = 1; needs actions."""

    kind: ClassVar[str] = "iq"
    needs: ClassVar[Needs] = "actions"
    value_term: Literal["value", "value_expert", "v0"] = "value"
    """The loss lowers V - gamma V' of all states or of the expert's, or (1 - gamma) V of the expert's
    (`v0`)."""
    chi: Positive = 0.5
    """This is c in the chi-square term, E rho^2 / (4 c) of the implied reward rho."""
    chi_over: Literal["all", "expert"] = "all"
    """The implied reward is squared for all states or for the expert's, which alone may diverge."""
    bootstrap: Literal["target", "online"] = "target"
    """The target networks value the next state, or the online ones, through which `online` learns too, as the
    objective is published."""
    twins: Twins = "first"
    """V comes from the mean or the minimum of twin critics, or from the first, which is then the only one."""


@dataclass(frozen=True)
class BCConfig(ObjectiveDefaults):
    """Behaviour cloning: the squared error to the expert's actions, without episodes; a step is an update."""

    kind: ClassVar[str] = "bc"
    needs: ClassVar[Needs] = "actions"
    validation: BelowOne = 0.0
    """This last share of each demonstration is held out, and the policy that does best on it is kept."""
    patience: NotNegativeInt = 0
    """Training stops after this many updates without a better validation loss, and with 0 never early."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.patience == 0 or self.validation > 0, "objective.patience needs a validation share")


@dataclass(frozen=True)
class BCOConfig(ObjectiveDefaults):
    """Cloning from observation: the actions are inferred by a model that learns from the agent's episodes."""

    kind: ClassVar[str] = "bco"
    inverse: InverseConfig = field(default_factory=InverseConfig)
    """The inverse model infers the action between two states."""


ObjectiveConfig = (
    SFMConfig | RewardConfig | DiscriminatorConfig | OPOLOConfig | IQConfig | BCConfig | BCOConfig
)
