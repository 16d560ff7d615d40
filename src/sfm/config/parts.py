"""What objectives train besides the learner: base features, a cost, a model of actions."""

import math
from dataclasses import dataclass
from typing import Literal

from sfm.config.checks import (
    AtLeastOne,
    NotNegative,
    NotNegativeInt,
    NotNegativeOrNone,
    Positive,
    Share,
    check,
    require,
)
from sfm.errors import unknown

METHODS = ("fdm", "idm", "ae", "random", "hr", "adversarial", "fourier", "steps", "landmarks")


@dataclass(frozen=True)
class FeatureConfig:
    """The base features phi and how they are learned."""

    method: str = "fdm"
    """The features learn by a forward model (`fdm`), an inverse model (`idm`), an autoencoder (`ae`), not at
    all (`random`), as Hilbert representations (`hr`), to tell the policy's states from the expert's
    (`adversarial`), are random waves (`fourier`) or soft steps (`steps`) that are never trained, or tell how
    near states of the demonstrations are (`landmarks`); several stand side by side as in `fourier+fdm`."""
    dim: AtLeastOne = 128
    """Each method gives this many features."""
    width: AtLeastOne = 1024
    """Each hidden layer of phi has this many units."""
    depth: AtLeastOne = 3
    """The network phi has this many hidden layers."""
    head_width: AtLeastOne = 1024
    """Each hidden layer of the network that predicts from phi has this many units."""
    lr: Positive = 3e-4
    """The features learn at this rate, which is constant but for adversarial features (see `lr_final`)."""
    interval: AtLeastOne = 1
    """The features take one step per this many updates."""
    centre: bool = False
    """The running mean of phi over replay is subtracted from it, which `hr` always does."""
    state_weight: NotNegative = 0.0
    """The state, as phi sees it, stands beside phi times this weight, so that its mean is matched too."""
    state_by: Literal["number", "observation"] = "number"
    """Each number of the state counts alike, or each observation that the environment names, shared by its
    numbers, so that many of one kind do not outvote the one that matters: in the state beside phi, and in
    what waves, steps and landmarks see."""
    alive_weight: NotNegative = 0.0
    """Where episodes can end before their time limit, one more feature has this value until they do, so that
    the policy learns to last as long as the expert."""
    bandwidths: tuple[float, ...] = (0.3, 0.7, 1.75)
    """Waves and steps have these widths in turn, in units of the root mean square distance of two
    standardised states, in what the feature sees of them; landmarks in units of that of two demonstrated
    states."""
    coordinates: tuple[int, ...] = ()
    """Each wave or step sees only this many coordinates of the state, drawn at random, or all with 0; several
    numbers are taken in turn, and none given means all."""
    hr_discount: Share = 0.98
    """Hilbert representations discount distances in time by this factor per step."""
    hr_expectile: Share = 0.5
    """Hilbert representations weigh errors upwards by this share and errors downwards by the rest, so that at
    0.5 they weigh the same."""
    hr_polyak: Share = 0.005
    """The target network of Hilbert representations moves by this share of the way at every step."""
    penalty: NotNegative = 10.0
    """Adversarial features have a gradient penalty of this weight."""
    penalty_norm: NotNegative = 0.4
    """The gradient penalty of adversarial features draws the norm of the gradient to this value."""
    lr_final: NotNegative = 1e-7
    """The rate of adversarial features falls linearly to this value over `decay_updates` refreshes."""
    decay_updates: NotNegativeInt = 0
    """The rate of adversarial features falls over this many refreshes, and with 0 over those of the run."""
    refresh_batch: AtLeastOne = 4096
    """Adversarial features learn from this many states of the policy, and as many of the expert."""

    @property
    def follows_run(self) -> bool:
        """Whether a rate depends on the run's length."""
        return self.method == "adversarial" and self.decay_updates == 0

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that stand side by side."""
        return tuple(self.method.split("+"))

    def __post_init__(self) -> None:
        check(self, "objective.features")
        for name in self.methods:
            if name not in METHODS:
                raise unknown("feature method", name, METHODS)
        require(len(set(self.methods)) == len(self.methods), "a feature method stands twice side by side")
        alone = "adversarial" not in self.methods or self.method == "adversarial"
        require(alone, "adversarial features stand alone: nothing else learns from fresh episodes")
        some = self.bandwidths and all(0 < width < math.inf for width in self.bandwidths)
        require(bool(some), "objective.features.bandwidths must be positive numbers, at least one")
        require(all(k >= 0 for k in self.coordinates), "objective.features.coordinates must not be negative")


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
    decay_updates: NotNegativeInt = 0
    """The rate falls over this many steps of the cost, and with 0 over those of the run."""

    @property
    def follows_run(self) -> bool:
        """Whether the rate depends on the run's length."""
        return self.lr_final is not None and self.decay_updates == 0

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
