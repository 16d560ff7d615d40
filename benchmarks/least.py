"""The least FLOPs that the matrix products of one update need, counted by hand.

Each network counts once on the same rows, also where both critic and actor need it, and its gradients only
where a loss needs them. What is not a matrix product counts as nothing.
"""

import itertools
from typing import Any, NamedTuple

from sfm.config import (
    BCConfig,
    BCOConfig,
    Config,
    CostConfig,
    DiscriminatorConfig,
    FeatureConfig,
    InverseConfig,
    IQConfig,
    OPOLOConfig,
    RewardConfig,
    SFMConfig,
    TD7Config,
)

__all__ = ["ACTION", "OBS", "STATES", "Net", "least"]

OBS, ACTION, STATES = 24, 6, 1000  # a walker and its demonstration


class Net(NamedTuple):
    """Dense layers one after another. FLOPs per row."""

    sizes: tuple[int, ...]

    @property
    def layers(self) -> list[int]:
        """Weights of each."""
        return [i * j for i, j in itertools.pairwise(self.sizes)]

    @property
    def forward(self) -> int:
        return 2 * sum(self.layers)

    def passed(self, inputs: int) -> int:
        """Forward, and backward to so many of its inputs."""
        return self.forward + 2 * sum(self.layers[1:]) + 2 * inputs * self.sizes[1]

    def trained(self, inputs: int = 0) -> int:
        """The same, and the gradient of its weights."""
        return self.passed(inputs) + self.forward


class Learning(NamedTuple):
    """Least FLOPs per row of a learner's parts; psi is that of one twin."""

    embed: float  # what the update trains besides critic and actor, and embeddings of (s, a)
    fit: float  # psi(s, a), trained
    act: float  # pi of states that are new
    psi: float  # psi of states and actions that are new
    bootstrap: float  # psi of all target twins at the end of a target
    improve: float  # pi and psi(s, pi(s)), trained through
    clone: float  # pi of states that are new, trained
    value_next: float  # psi(s', pi(s')), less what the bootstrap has computed


def learning(config: Config, dim: int, critics: int = 2) -> Learning:
    """Of the config's learner with critics in R^dim."""
    c = config.learner
    twins = 1 if c.actor_twin == "first" else critics
    if isinstance(c, TD7Config):
        return _td7(c, dim, critics, twins)
    hidden = (c.width,) * c.depth
    actor = Net((OBS, *hidden, ACTION * (2 if c.kind == "stochastic" else 1)))
    critic = Net((OBS + ACTION, *hidden, dim))
    known = config.n_step == 1 and getattr(c, "target_actor", "online") == "online"
    return Learning(
        embed=0,
        fit=critic.trained(),
        act=actor.forward,
        psi=critic.forward,
        bootstrap=actor.forward + critics * critic.forward,
        improve=actor.trained() + twins * critic.passed(ACTION),
        clone=actor.trained(),
        value_next=critic.forward + (0 if known else actor.forward),
    )


def _td7(c: TD7Config, dim: int, critics: int, twins: int) -> Learning:
    w, z = c.width, c.embedding
    state, pair = Net((OBS, w, w, z)), Net((z + ACTION, w, w, z))
    actor_stem, actor = Net((OBS, w)), Net((w + z, w, w, ACTION))
    stem, critic = Net((OBS + ACTION, w)), Net((w + 2 * z, w, w, dim))
    act = state.forward + actor_stem.forward + actor.forward
    psi = pair.forward + stem.forward + critic.forward
    moved = actor_stem.trained() + actor.trained(w)  # the embedding of s is known
    return Learning(
        embed=state.trained() + pair.trained(z) + state.forward + state.forward + pair.forward,
        fit=stem.trained() + critic.trained(w),
        act=act,
        psi=psi,
        bootstrap=act + critics * psi - (critics - 1) * pair.forward,
        improve=moved + pair.passed(ACTION) + twins * (stem.passed(ACTION) + critic.passed(w + z)),
        clone=moved + state.forward,
        value_next=act + psi,
    )


_WITH_TD7 = SFMConfig | RewardConfig | DiscriminatorConfig  # the others train more than pi(s) and psi(s, a)


def least(config: Config) -> float:
    """The least FLOPs of one update."""
    o, batch = config.objective, config.schedule.batch
    if isinstance(config.learner, TD7Config) and not isinstance(o, _WITH_TD7):
        raise NotImplementedError(f"the least of {o.kind} with TD7")
    ahead = config.n_step - 1  # cumulants of later states, per row
    if isinstance(o, SFMConfig):
        dim = len(o.features.methods) * o.features.dim + (OBS if o.features.state_weight else 0)
        always, acting = _sfm(o, learning(config, dim, o.critics), batch, ahead)
    else:
        always, acting = _scalar(o, learning(config, 1), ahead)
    rows = 2 * batch if isinstance(o, IQConfig) else batch  # half are the expert's
    return rows * (always + acting / config.learner.actor_delay)


def _sfm(o: SFMConfig, it: Learning, batch: int, ahead: int) -> tuple[float, float]:
    """Per row: of every update, and of an actor step."""
    parts = [(method, _phi(o.features, method)) for method in o.features.methods]
    forward = sum(phi.forward for _, phi in parts)
    independent = o.witness_batch == "independent"
    now, following = (it.act + it.psi, it.act + it.psi) if independent else (0, it.value_next)
    policy = now + following if o.match_from == "start" else forward
    expert = forward * STATES / batch / o.expert_interval
    often = 1 / o.features.interval
    features = often * sum(_features(o.features, *part) for part in parts) + (1 - often) * forward
    always = features + ahead * forward + it.embed + it.bootstrap + o.critics * it.fit
    return always, it.improve + policy + expert


def _phi(f: FeatureConfig, method: str) -> Net:
    """The network of a method; those that are not learned are one product with the state, or about one."""
    hidden = () if method in ("fourier", "steps", "landmarks") else (f.width,) * f.depth
    return Net((OBS, *hidden, f.dim))


def _features(f: FeatureConfig, method: str, phi: Net) -> float:
    def headed(sees: int, target: int, states: int = 1) -> float:
        head = Net((states * f.dim + sees, f.head_width, f.head_width, target))
        return states * phi.trained() + head.trained(states * f.dim)

    return {
        "fdm": headed(ACTION, OBS),
        "idm": headed(0, ACTION, states=2),
        "ae": headed(0, OBS),
        "hr": 2 * (2 * phi.trained() + 3 * phi.forward),
        "random": phi.forward,
        "fourier": phi.forward,
        "steps": phi.forward,
        "landmarks": phi.forward,
        "adversarial": phi.forward,
    }[method]


def _scalar(o: Any, it: Learning, ahead: int) -> tuple[float, float]:
    """The same of objectives with a scalar critic."""
    learned = it.embed + it.bootstrap + 2 * it.fit
    match o:  # what both critic and actor step need counts in the former
        case RewardConfig():
            return learned, it.improve
        case DiscriminatorConfig():
            cost = _cost(o.cost, 2 if o.sees == "pair" else 1)
            return learned + (1 + ahead) * cost.forward, it.improve
        case OPOLOConfig():
            cost, inverse = _cost(o.cost, 2), _inverse(o.inverse)
            # of the gradient penalty: forward, backward, and backward through both
            fit_cost = 2 * cost.trained() + 6 * cost.forward
            always = learned + cost.forward + fit_cost / o.cost_interval
            always += inverse.trained() / o.inverse_interval + it.act + 2 * it.fit
            return always, it.improve - it.act + it.clone + inverse.forward
        case IQConfig():
            twins = 1 if o.twins == "first" else 2
            following = it.fit if o.bootstrap == "online" else it.psi
            return it.embed + 2 * it.act + twins * (2 * it.fit + following), it.improve - it.act
        case BCConfig():
            return 0, it.clone
        case BCOConfig():
            inverse = _inverse(o.inverse)
            return inverse.trained(), it.clone + inverse.forward
    raise NotImplementedError(f"the least of objective {o.kind}")


def _cost(c: CostConfig, states: int) -> Net:
    return Net((states * OBS, *(c.width,) * c.depth, 1))


def _inverse(c: InverseConfig) -> Net:
    return Net((2 * OBS, c.width, c.width, ACTION))
