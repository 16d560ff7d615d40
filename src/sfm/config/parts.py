"""What objectives train besides the learner: base features, a cost, a model of actions."""

from dataclasses import dataclass
from typing import Literal

from sfm.config.checks import AtLeastOne, NotNegative, NotNegativeOrNone, Positive, Share, check


@dataclass(frozen=True)
class FeatureConfig:
    """The base features phi and how they are learned."""

    method: Literal["fdm", "idm", "ae", "random", "hr", "adversarial"] = "fdm"
    """The features learn by a forward model, an inverse model, an autoencoder, not at all, as Hilbert
    representations, or to tell the policy's states from the expert's."""
    dim: AtLeastOne = 128
    """The network phi gives this many features."""
    width: AtLeastOne = 1024
    """Each hidden layer of phi has this many units."""
    depth: AtLeastOne = 3
    """The network phi has this many hidden layers."""
    head_width: AtLeastOne = 1024
    """Each hidden layer of the network that predicts from phi has this many units."""
    lr: Positive = 3e-4
    """The features learn at this rate."""
    interval: AtLeastOne = 1
    """The features take one step per this many updates."""
    centre: bool = False
    """The running mean of phi over replay is subtracted from it, which `hr` always does."""
    state_weight: NotNegative = 0.0
    """The state, as phi sees it, stands beside phi times this weight, so that its mean is matched too."""
    alive_weight: NotNegative = 0.0
    """Where episodes can end before their time limit, one more feature has this value until they do, so that
    the policy learns to last as long as the expert."""
    hr_discount: Share = 0.98
    """Hilbert representations discount distances in time by this factor per step."""
    hr_expectile: Share = 0.5
    """Hilbert representations weigh errors upwards by this share and errors downwards by the rest."""
    hr_polyak: Share = 0.005
    """The target network of Hilbert representations moves by this share of the way at every step."""
    penalty: NotNegative = 10.0
    """Adversarial features have a gradient penalty of this weight."""
    penalty_norm: NotNegative = 0.4
    """The gradient penalty of adversarial features draws the norm of the gradient to this value."""
    lr_final: NotNegative = 1e-7
    """The rate of adversarial features falls linearly to this value over `decay_updates` refreshes."""
    decay_updates: AtLeastOne = 100
    """The rate of adversarial features falls over this many refreshes."""
    refresh_batch: AtLeastOne = 4096
    """Adversarial features learn from this many states of the policy, and as many of the expert."""

    def __post_init__(self) -> None:
        check(self, "objective.features")


@dataclass(frozen=True)
class CostConfig:
    """A network that learns to be low on the expert's states and high on the policy's."""

    width: AtLeastOne = 256
    """Each hidden layer of the cost has this many units."""
    depth: AtLeastOne = 2
    """The cost has this many hidden layers."""
    activation: Literal["relu", "tanh"] = "relu"
    """Hidden layers of the cost have this activation."""
    loss: Literal["ipm", "js"] = "ipm"
    """The loss is the difference of mean costs (`ipm`, the authors' code), or Jensen-Shannon by cross-entropy
    (`js`, the paper)."""
    penalty: NotNegative = 10.0
    """The loss has a gradient penalty of this weight, which draws the norm of the cost's gradient to
    `penalty_norm`."""
    penalty_norm: NotNegative = 0.4
    """The gradient penalty draws the norm of the cost's gradient to this value."""
    entropy: NotNegative = 0.0
    """The entropy of the classification whose logit the cost is has this weight."""
    optimizer: Literal["adam", "optimistic"] = "adam"
    """The cost, and nothing else, learns by Adam or by Optimistic Adam (the paper)."""
    lr: Positive = 8e-4
    """The cost learns at this rate."""
    lr_final: NotNegativeOrNone = 1e-7
    """The rate falls linearly to this value over `decay_updates` steps of the cost; with none it is
    constant."""
    decay_updates: AtLeastOne = 100
    """The rate falls over this many steps of the cost."""

    def __post_init__(self) -> None:
        check(self, "objective.cost")


@dataclass(frozen=True)
class InverseConfig:
    """A model of the action between two states."""

    width: AtLeastOne = 256
    """Each of the two hidden layers of the inverse model has this many units."""
    lr: Positive = 3e-4
    """The inverse model learns at this rate."""
    decay: NotNegative = 1e-3
    """Half the squared norm of all parameters of the inverse model has this weight in its loss."""

    def __post_init__(self) -> None:
        check(self, "objective.inverse")
