"""Successor Feature Matching: the cumulant is phi(s), the weight is the witness.

    witness = E[sum gamma^t phi(s_t)] of the expert - the same of the policy

The expert's term is a sum over the demonstrations (eq. 7); the policy's comes from replay through the
telescoping identity (prop. 1). Both are averaged over updates. Or both are means over the states visited, see
`SFMConfig.match_from`.
"""

import functools
import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners.base import Critics, td_loss
from sfm.agents.objectives.adversarial import Adversarial
from sfm.agents.objectives.base import Objective, Refresh
from sfm.agents.objectives.cost import draw_states, thinned
from sfm.agents.objectives.features import (
    PREDICTIONS,
    Features,
    Fixed,
    Hilbert,
    Predictive,
    SideBySide,
)
from sfm.agents.objectives.maps import Landmarks, make_steps, make_waves
from sfm.agents.optim import Average, Moments, zeros
from sfm.agents.types import Batch, Context, ExpertStates, Metrics, Spec, ValueFn
from sfm.config import FeatureConfig, SFMConfig

LEAST_RECENT = 4_000  # visits, where there are as many
CENTRE_DECAY = 0.995  # of the running mean of phi, per update


def make_features(config: FeatureConfig, spec: Spec) -> Features:
    kinds: dict[str, Any] = {
        "random": Fixed,
        "hr": Hilbert,
        "adversarial": Adversarial,
        "landmarks": Landmarks,
    }
    kinds["fourier"] = functools.partial(Fixed, make=make_waves)
    kinds["steps"] = functools.partial(Fixed, make=make_steps)
    kinds |= {name: functools.partial(Predictive, task=task) for name, task in PREDICTIONS.items()}
    parts = {name: kinds[name](config, spec) for name in config.methods}
    return SideBySide(parts) if len(parts) > 1 else parts[config.method]


def time_weights(length: Array, size: int, gamma: float, start: str) -> tuple[Array, Array]:
    """Weights [N, size] of phi(s_t), t < length, in the successor features of an episode, and [N] of what
    follows after it. Starting from the first state: gamma^t. Visits: the same for each state, with the sum of
    gamma^t over all t."""
    t = jnp.arange(size)
    inside = t[None] < length[:, None]
    n = length.astype(jnp.float32)
    if start == "start":
        return jnp.where(inside, gamma**t, 0.0), gamma**n
    return jnp.where(inside, 1 / (1 - gamma) / n[:, None], 0.0), jnp.zeros_like(n)


def telescoped(psi: Array, psi_next: Array, mask: Array, gamma: float) -> Array:
    """(1 - gamma)^-1 E[psi(s, pi(s)) - gamma psi(s', pi(s'))]: psi of the start states (prop. 1), [d]."""
    return (psi - gamma * mask[:, None] * psi_next).mean(0) / (1 - gamma)


def _state_weight(config: FeatureConfig, spec: Spec) -> Any:
    """Of the state beside phi: one, or one for each dimension that is matched."""
    if config.state_by == "number":
        return config.state_weight
    return (config.state_weight * np.sqrt(spec.portion)).astype(np.float32)


def _unit(x: Array) -> Array:
    return x / (jnp.linalg.norm(x) + 1e-8)


class SFMState(NamedTuple):
    features: Any
    moments: Moments | None  # of replayed states, where they are standardised
    centre: Average  # of phi over replay, [d]
    expert: Average  # the expert's successor features, [d]
    policy: Average  # the policy's, [d]
    expert_now: Array  # the expert's at the last recomputation, of phi that is not centred, [d]


class SFM(Objective[SFMConfig, SFMState], config=SFMConfig):
    twins = "mean"

    def __init__(self, config: SFMConfig, spec: Spec):
        super().__init__(config, spec)
        self.features = make_features(config.features, spec)
        self.alive = config.features.alive_weight if spec.terminates else 0.0
        self.parts = dict.fromkeys(config.features.methods, config.features.dim)  # of phi, and their sizes
        self.parts |= {"state": spec.matched_dim} if config.features.state_weight else {}
        self.state_weight = _state_weight(config.features, spec)
        self.base = sum(self.parts.values())
        self.dim = self.base + bool(self.alive)
        self.critics = config.critics
        self.uses_goals = "hr" in config.features.methods
        self.uses_recent = config.witness_batch == "independent"
        self.centred = config.features.centre or self.uses_goals
        self.scale = 1 - spec.gamma if config.scale_psi else 1.0
        self.size = (1 - spec.gamma) / self.scale  # psi times this has the scale of phi
        adversarial = config.features.method == "adversarial"
        plan = Refresh(config.refresh_every, config.refresh_episodes, config.refresh_counted)
        self.fresh = plan if adversarial else None

    def init(self, rng: np.random.Generator) -> SFMState:
        d, zero = self.dim, Average.zeros
        moments = Moments.zeros(self.spec.matched_dim) if self.spec.normalise == "features" else None
        return SFMState(self.features.init(rng), moments, zero(self.base), zero(d), zero(d), zeros(d))

    def recent(self, total: np.ndarray, done: np.ndarray) -> np.ndarray:
        c = self.config
        share = 1 - (1 - c.witness_share) * done
        window = np.minimum(total, c.witness_window or np.maximum(share * total, LEAST_RECENT))
        return np.stack([window, np.minimum(window, c.witness_newest)], -1) if c.witness_newest else window

    def shown(self, demos: ExpertStates) -> ExpertStates:
        return thinned(demos) if self.config.match_from == "visits" else demos

    def phi(self, o: SFMState, obs: Array) -> Array:
        """The cumulant: base features, centred and scaled where asked for, [..., d]."""
        seen = self._seen(o, obs)
        return self._cumulant(o, self._whole(self.features.phi(o.features)(seen), seen))

    def cumulant(self, o: SFMState, obs: Array, next_obs: Array, reward: Array) -> Array:
        return self.phi(o, obs)

    def _seen(self, o: SFMState, obs: Array) -> Array:
        """What is matched of states, as the features see it."""
        part = self.spec.part(obs)
        return o.moments.standardise(part) if o.moments else part

    def _whole(self, phi: Array, seen: Array) -> Array:
        """phi with the states it saw beside it, where asked for."""
        return jnp.concatenate([phi, self.state_weight * seen], -1) if "state" in self.parts else phi

    def _cumulant(self, o: SFMState, whole: Array) -> Array:
        phi = whole - o.centre.mean if self.centred else whole
        if self.alive:  # after an episode has ended, it and all others are zero
            phi = jnp.concatenate([phi, jnp.full((*phi.shape[:-1], 1), self.alive)], -1)
        return self.scale * phi

    def update(self, o: SFMState, context: Context) -> tuple[SFMState, Array, Metrics]:
        if o.moments:
            o = o._replace(moments=o.moments.add(self.spec.part(context.batch.obs)))
        batch = context.batch.seen(functools.partial(self._seen, o))

        demos = context.demos._replace(obs=self._seen(o, context.demos.obs))

        def learn(f):
            return self.features.learn(f, batch, demos)

        def rest(f):
            *_, metrics = jax.eval_shape(learn, f)
            zeros = jax.tree.map(lambda m: jnp.zeros(m.shape, m.dtype), metrics)
            return f, self.features.phi(f)(batch.obs), zeros

        interval = self.config.features.interval
        if interval == 1:
            features, phi, metrics = learn(o.features)
        else:
            features, phi, metrics = jax.lax.cond(context.step % interval == 0, learn, rest, o.features)
            metrics = jax.tree.map(lambda m: m * interval, metrics)
        whole = self._whole(phi, batch.obs)
        centre = o.centre.add(whole.mean(0), CENTRE_DECAY) if self.centred else o.centre
        o = o._replace(features=features, centre=centre)
        return o, jax.lax.stop_gradient(self._cumulant(o, whole)), metrics

    def critic_loss(
        self, o: SFMState, critics: Critics, batch: Batch, cumulant: Array
    ) -> tuple[Array, Array]:
        scale = self.config.witness_error_weight**0.5
        along = scale * _unit(o.expert.mean - o.policy.mean) if scale else None
        return td_loss(critics, batch, cumulant, self.twins, along)

    def weight(
        self, o: SFMState, psi: Array, value: ValueFn, context: Context
    ) -> tuple[Array, SFMState, Metrics]:
        c, gamma = self.config, self.spec.gamma
        k_now, k_next, k_tail = jax.random.split(context.key, 3)
        source = context.recent if self.uses_recent else context.batch
        expert_now, uncentred = self._expert(o, value, context._replace(key=k_tail))
        if c.match_from == "start":
            now = value(source.obs, k_now) if self.uses_recent else psi
            following = value(source.next_obs, k_next, target=c.bootstrap == "target")
            policy_now = telescoped(now, following, source.mask, gamma)
        else:
            policy_now = self.phi(o, source.obs).mean(0) / (1 - gamma)
            if self.alive:
                policy_now *= self._living(1 - source.mask.mean())
        expert, policy = o.expert.add(expert_now, c.ema), o.policy.add(policy_now, c.ema)
        witness = expert.mean - policy.mean
        direction = {
            "witness": witness,
            # d policy.mean / d policy_now = (1 - ema) / weight: the average is debiased
            "witness_flow": witness + (1 - c.ema) / policy.weight * (expert.mean - policy_now),
        }[c.actor_loss]
        if c.unit_witness:
            weight = _unit(direction)
        else:  # of the gap on the scale of phi; telescoping makes d policy_now / d psi = 1 / (1 - gamma)
            weight = direction * self.size**2 / (1 - gamma if c.match_from == "start" else 1)
        metrics = {
            "gap": jnp.square(self.size * witness).mean(),
            "expert_norm": self.size * jnp.linalg.norm(expert.mean),
            "policy_norm": self.size * jnp.linalg.norm(policy.mean),
        }
        return weight, o._replace(expert=expert, policy=policy, expert_now=uncentred), metrics

    def describe(self, o: SFMState) -> Metrics:
        """The share of the witness, of its squared length, that each of several parts of phi has."""
        if len(self.parts) == 1:
            return {}
        squares = jnp.square(o.expert.mean - o.policy.mean)[: self.base]
        ends = list(itertools.accumulate(self.parts.values(), initial=0))
        shares = [squares[i:j].sum() / (squares.sum() + 1e-12) for i, j in itertools.pairwise(ends)]
        return {f"share/{name}": share for name, share in zip(self.parts, shares, strict=True)}

    def _living(self, ends: Array) -> Array:
        """The share of time before the end, where a share `ends` of all states is the last of its episode and
        each end lasts as long as the discount looks ahead."""
        return 1 / (1 + ends / (1 - self.spec.gamma))

    def _expert(self, o: SFMState, value: ValueFn, context: Context) -> tuple[Array, Array]:
        """`expert_features`, recomputed every `expert_interval` actor steps, and the same of phi not centred.

        The centre moves with every update, on the policy's side too, and must not come between them.
        """
        moved = jnp.zeros(self.dim)
        if self.centred:
            moved = moved.at[: self.base].set(self.scale / (1 - self.spec.gamma) * o.centre.mean)

        def compute() -> Array:
            return self.expert_features(o, value, context.demos, context.key) + moved

        if self.config.expert_interval == 1:
            uncentred = compute()
        else:
            due = (context.step - 1) % self.config.expert_interval == 0
            uncentred = jax.lax.cond(due, compute, lambda: o.expert_now)
        return uncentred - moved, uncentred

    def expert_features(self, o: SFMState, value: ValueFn, demos: ExpertStates, key: Array) -> Array:
        """The expert's successor features from the demonstrations' first states, [d]."""
        last = jnp.take_along_axis(demos.obs, demos.length[:, None, None], axis=1)[:, 0]  # [M, o]
        summed, after_weight = self.discounted(o, demos.obs, demos.length)  # s_0 .. s_{T-1}; then the tail
        after = value(last, key) if self.config.tail == "bootstrap" else self.phi(o, last)
        return (summed + after_weight * after).mean(0)

    def discounted(self, o: SFMState, obs: Array, length: Array) -> tuple[Array, Array]:
        """Discounted features [N, d] of episodes obs [N, T+1, o], and the weight [N, 1] of what follows."""
        weights, after_weight = time_weights(length, obs.shape[1], self.spec.gamma, self.config.match_from)
        return jnp.einsum("nt,ntd->nd", weights, self.phi(o, obs)), after_weight[:, None]

    def refresh(
        self, o: SFMState, obs: Array, length: Array, demos: ExpertStates, key: Array
    ) -> tuple[SFMState, Metrics]:
        assert isinstance(self.features, Adversarial)
        k_agent, k_expert, k_fit = jax.random.split(key, 3)
        o = o._replace(moments=o.moments.begun(self.spec.part(obs))) if o.moments else o
        n = self.config.features.refresh_batch
        agent = self._seen(o, draw_states(k_agent, obs, length, n))
        expert = self._seen(o, draw_states(k_expert, demos.obs, demos.length, n))
        features, metrics = self.features.fit(o.features, agent, expert, k_fit)
        return o._replace(features=features), metrics

    def score(self, o: SFMState, obs: Array, length: Array, terminated: Array, returns: Array) -> Array:
        """-mean_i (expert_i - sum_t gamma^t phi_i(s_t))^2 of each episode: minus its feature gap.

        What would follow an episode that was cut off is taken to be like the episode.
        """
        summed, after_weight = self.discounted(o, obs, length)
        whole = summed / jnp.where(terminated[:, None], 1.0, 1 - after_weight)
        if self.alive and self.config.match_from == "visits":
            whole = jnp.where(terminated[:, None], self._living(1 / length)[:, None] * whole, whole)
        return -jnp.square(self.size * (o.expert.mean - whole)).mean(-1)
