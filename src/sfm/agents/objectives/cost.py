"""A cost that is low on the expert's states and high on the policy's: what is drawn, the losses, one step."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.nets import MLP, joined
from sfm.agents.optim import Trained, adam
from sfm.agents.types import ExpertStates, Metrics
from sfm.config import CostConfig

MOST_STATES = 20_000  # of demonstrations, in a mean over them all


def draw_times(key: Array, length: Array, count: int) -> tuple[Array, Array]:
    """(episode, time) of `count` transitions, each [count], uniform over episodes of `length` [K]."""
    ends = jnp.cumsum(length)
    index = jax.random.randint(key, (count,), 0, ends[-1])
    episode = jnp.searchsorted(ends, index, side="right")
    return episode, index - (ends - length)[episode]


def draw_pairs(key: Array, obs: Array, length: Array, count: int) -> tuple[Array, Array]:
    """(s, s') of `count` transitions, each [count, o], uniform over those of the episodes obs [K, T+1, o]."""
    episode, time = draw_times(key, length, count)
    return obs[episode, time], obs[episode, time + 1]


def draw_states(key: Array, obs: Array, length: Array, count: int) -> Array:
    """`count` states, uniform over the first `length` states of each episode obs [K, T+1, o]."""
    return draw_pairs(key, obs, length, count)[0]


def thinned(demos: ExpertStates) -> ExpertStates:
    """Every k-th state of each demonstration, always the same ones; all of them where there are few."""
    episodes, size = demos.obs.shape[:2]
    every = -(-episodes * size // MOST_STATES)
    if every == 1:
        return demos
    first = every // 2
    count = jnp.maximum(-((first - demos.length) // every), 1)  # of one shorter than `first` the last state
    times = first + every * jnp.arange(-(-size // every) + 1)  # one more: the state after the last transition
    seen = jnp.minimum(times, demos.length[:, None] - 1)
    return ExpertStates(jnp.take_along_axis(demos.obs, seen[:, :, None], axis=1), count)


def episode_mean(values: Array, length: Array) -> Array:
    """The mean of the first `length` [N] values [N, T] of each episode, [N]."""
    inside = jnp.arange(values.shape[1])[None] < length[:, None]
    return jnp.where(inside, values, 0.0).sum(1) / length


def gradient_penalty(f: Callable[[Array], Array], key: Array, a: Array, b: Array, norm: float) -> Array:
    """mean (||grad f(x)|| - norm)^2 at x between rows of a and b [N, o]; f: [o] -> scalar."""
    u = jax.random.uniform(key, (a.shape[0], 1))
    grads = jax.vmap(jax.grad(f))(u * a + (1 - u) * b)
    return jnp.square(jnp.sqrt(jnp.square(grads).sum(-1) + 1e-12) - norm).mean()


def ipm(expert: Array, agent: Array) -> Array:
    """The difference of mean costs: an integral probability metric, once f's slope is bounded."""
    return expert.mean() - agent.mean()


def js(expert: Array, agent: Array) -> Array:
    """Cross-entropy, with the cost as the logit of "this is the policy": the Jensen-Shannon divergence."""
    return jax.nn.softplus(expert).mean() + jax.nn.softplus(-agent).mean()


LOSSES = {"ipm": ipm, "js": js}


def entropy(logit: Array) -> Array:
    """Of a coin that shows heads with probability sigmoid(logit)."""
    return jax.nn.softplus(logit) - logit * jax.nn.sigmoid(logit)


def make_cost(config: CostConfig, size: int, steps: int, rng: np.random.Generator) -> Trained[MLP]:
    """f: [..., size] -> [..., 1], which takes this many steps in the whole run."""
    c, whole = config, max(steps, 1)
    net = MLP((size, *(c.width,) * c.depth, 1), rng, activation=c.activation, init="lecun")
    return Trained.create(net, adam(c.lr, c.lr_final, c.decay_updates or whole, c.optimizer == "optimistic"))


def fit_cost(
    f: Trained[MLP], config: CostConfig, expert: Array, agent: Array, key: Array
) -> tuple[Trained[MLP], Metrics]:
    """One step on expert and agent rows, each [N, size]."""
    c = config

    def loss(net: MLP):
        low, high = net(expert)[:, 0], net(agent)[:, 0]
        penalty = gradient_penalty(lambda x: net(x)[0], key, agent, expert, c.penalty_norm)
        spread = entropy(joined(low, high)).mean()
        metrics = {"cost_gap": high.mean() - low.mean(), "cost_penalty": penalty}
        return LOSSES[c.loss](low, high) + c.penalty * penalty - c.entropy * spread, metrics

    f, value, metrics = f.step(loss)
    return f, metrics | {"cost_loss": value}
