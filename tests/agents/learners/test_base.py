"""What holds for every learner: psi against closed forms, gradients against finite differences."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import (
    DIM,
    LEARNERS,
    SPEC,
    along,
    assert_close,
    descending,
    doubled,
    make,
    minus,
    random_batch,
    random_like,
    regression,
    slope,
)

from sfm.agents.learners.base import Critics, smoothing_noise, td_loss
from sfm.agents.learners.td7 import Bounds
from sfm.agents.nets import first
from sfm.agents.optim import Trained
from sfm.agents.types import Batch

KEY = jax.random.key(5)

# A chain of four one-hot states, 0 -> 1 -> 2 -> 3, whatever the action. State 3 stays or is the last.
STATES = np.eye(4, dtype=np.float32)
PHI = np.array([[1, 0, -1], [0, 2, 0.5], [-1, 1, 0], [0.5, -0.5, 1]], np.float32)
FAST = {
    "td3": {"lr_critic": 1e-2, "polyak": 0.1, "polyak_on": "every_step"},
    "td7": {"lr_critic": 5e-3, "target_interval": 25},
    "stochastic": {"lr_critic": 1e-2, "polyak": 0.1},
}


def closed_form(terminates: bool) -> np.ndarray:
    """psi = (I - gamma P)^-1 phi, [state, d]; P leaves nothing behind the last state."""
    follow = np.diag(np.ones(3), 1)
    follow[3, 3] = 0 if terminates else 1
    return np.linalg.solve(np.eye(4) - SPEC.gamma * follow, PHI)


def walk(key, mask_of_last) -> Batch:
    """Eight visits to every state, with random actions."""
    now = jnp.tile(jnp.arange(4), 8)
    action = jax.random.uniform(key, (32, SPEC.action_dim), minval=-1, maxval=1)
    obs, following = jnp.asarray(STATES)[now], jnp.asarray(STATES)[jnp.minimum(now + 1, 3)]
    return Batch(obs, action, following, now * 0.0, jnp.where(now == 3, mask_of_last, 1.0), following)


@pytest.mark.parametrize("kind", LEARNERS)
def test_psi_on_a_chain_is_the_discounted_sum_of_phi(kind):
    learner, start = make(kind, **FAST[kind])
    values = jax.vmap(lambda k, s: learner.value(s, jnp.asarray(STATES), k), (0, None))

    @jax.jit
    @jax.vmap
    def trained(mask_of_last):
        def update(s, step):
            k_batch, k_critic = jax.random.split(jax.random.fold_in(KEY, step))
            batch = walk(k_batch, mask_of_last)
            s, _ = learner.critic_step(s, batch, regression(batch, batch.obs @ PHI), k_critic)
            return learner.sync(s, step), None

        s, _ = jax.lax.scan(update, start, jnp.arange(1, 1001))
        return values(jax.random.split(KEY, 3), s)

    psi = trained(jnp.array([1.0, 0.0]))
    for got, terminates in zip(psi, (False, True), strict=True):
        np.testing.assert_allclose(got, np.tile(closed_form(terminates), (3, 1, 1)), atol=0.06)


def test_the_critics_loss_sums_twins_and_holds_its_target_still():
    """By hand, on critics that have two numbers each; the target would follow the same numbers."""
    x, batch = jnp.array([[1.0, 2.0], [4.0, 8.0]]), random_batch(count=5)  # [twin, d]
    cumulant = jnp.full((5, 2), 10.0)

    def loss(x, along=None):
        psi = lambda obs, action: jnp.tile(x[:, None], (1, 5, 1))  # noqa: E731
        bootstrap = lambda twins: jnp.tile(x.sum(0), (5, 1))  # noqa: E731
        return td_loss(Critics(psi, psi, psi, bootstrap), batch, cumulant, "mean", along)[0]  # pyright: ignore

    error = x - (10.0 + x.sum(0))
    assert float(loss(x)) == pytest.approx(float(jnp.square(error).sum()) / 2)
    assert_close(jax.grad(loss)(x), error)
    along = jnp.array([1.0, 3.0])
    assert_close(jax.grad(loss)(x, along), error + 2 * (error @ along)[:, None] * along)


def scalar(state, j: int):
    """The same learner, with critics that have the j-th output alone."""

    def cut(critic):
        return eqx.tree_at(lambda c: c.mlp.layers[-1], critic, replace_fn=keep)

    def keep(layer):
        return jax.tree.map(lambda x: x[..., j : j + 1], layer)

    critic = Trained.create(cut(state.critic.net), state.critic.tx)
    return state._replace(critic=critic, target_critic=cut(state.target_critic))


def steepest(state):
    """Double precision and plain descent: one step subtracts the gradient."""
    state = doubled(state)
    if hasattr(state, "clip"):  # as after the first copy of the targets
        state = state._replace(clip=Bounds(jnp.array(-100.0), jnp.array(100.0)))
    return state._replace(actor=descending(state.actor), critic=descending(state.critic))


@functools.cache
def gradients(kind: str, **changes):
    """(state, batch, cumulant, weight, key) -> the gradients of the critic's and of the actor's loss."""
    learner, _ = make(kind, **changes)

    def both(s, batch, cumulant, weight, key):
        after, _ = learner.critic_step(s, batch, regression(batch, cumulant, "min"), key)
        moved, metrics = learner.actor_step(s, batch, None, key)[1](weight)
        return minus(s.critic.net, after.critic.net), minus(s.actor.net, moved.actor.net), metrics

    return jax.jit(both)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("kind", LEARNERS)
def test_one_component_of_psi_is_a_scalar_critic(kind):
    """The vector critic's gradient is the mean over its components' gradients as scalar critics, and the
    actor's, with a one-hot weight, is that of the one component."""
    state, batch = steepest(make(kind)[1]), random_batch()
    cumulant = jax.random.normal(KEY, (32, DIM))
    weights = jnp.eye(DIM)
    parts = []
    for j in range(DIM):
        critic, actor, _ = gradients(kind)(state, batch, cumulant, weights[j], KEY)
        alone, actor_alone, _ = gradients(kind)(
            scalar(state, j), batch, cumulant[:, j : j + 1], jnp.ones(1), KEY
        )
        assert_close(actor, actor_alone, rtol=1e-9, atol=1e-12)
        last, last_alone = critic.mlp.layers[-1], alone.mlp.layers[-1]
        assert_close(last.weight[..., j], last_alone.weight[..., 0] / DIM, rtol=1e-9, atol=1e-12)
        parts.append(alone.mlp.layers[:-1])
    mean = jax.tree.map(lambda *xs: sum(xs) / DIM, *parts)
    assert_close(critic.mlp.layers[:-1], mean, rtol=1e-9, atol=1e-12)
    assert max(float(jnp.abs(x).max()) for x in jax.tree.leaves(mean)) > 1e-3


def written_out(kind, s, actor, obs, weight, key, temperature=0.0):
    """mean <w, psi(s, pi(s))> of the first twin, plus the entropy bonus."""
    critic = first(s.critic.net)
    if kind == "td3":
        return (critic(obs, jnp.tanh(actor(obs))) @ weight).mean()
    if kind == "td7":
        zs = s.fixed.state(obs)
        action = actor(obs, zs)
        zsa = s.fixed.dynamics(jnp.concatenate([zs, action], -1))
        return (critic(obs, action, zs, zsa) @ weight).mean()
    mean, log_std = actor.moments(obs)
    before = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
    log_prob = jax.scipy.stats.norm.logpdf(before, mean, jnp.exp(log_std)).sum(-1)
    return (critic(obs, jnp.tanh(before)) @ weight).mean() - temperature * log_prob.mean()


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("kind", LEARNERS)
def test_the_actor_climbs_the_weighted_value_of_its_actions(kind):
    learner, state = make(kind)
    state, batch = steepest(state), random_batch()
    weight = jnp.array([0.7, -1.5, 0.4])
    temperature = getattr(learner.config, "temperature", 0.0)
    climbed = jax.jit(lambda net: written_out(kind, state, net, batch.obs, weight, KEY, temperature))
    _, gradient, metrics = gradients(kind)(state, batch, jnp.zeros((32, DIM)), weight, KEY)
    assert float(metrics["actor_loss"]) == pytest.approx(-float(climbed(state.actor.net)), rel=1e-9)
    for seed in range(3):
        direction = random_like(state.actor.net, seed)
        expected = -slope(climbed, state.actor.net, direction)
        assert along(gradient, direction) == pytest.approx(expected, rel=1e-5)
        assert abs(expected) > 1e-4


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_actors_rate_falls_until_the_last_update(kind):
    """Adam moves by the rate itself where the gradient is always the same."""
    _, state = make(kind, SPEC._replace(updates=20), lr_actor=0.5, lr_actor_final=0.1, actor_delay=2)
    actor = state.actor
    ones = jax.tree.map(jnp.ones_like, actor.net)
    moved = []
    for _ in range(12):
        step, opt = actor.tx.update(ones, actor.opt, actor.net)
        actor = Trained(actor.net, opt, actor.tx)
        moved.append(-float(jax.tree.leaves(step)[0].mean()))
    np.testing.assert_allclose(moved, [*np.linspace(0.5, 0.1, 11), 0.1], rtol=1e-4)
    assert make(kind)[1].actor.tx is make(kind, SPEC._replace(updates=20))[1].actor.tx  # constant


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_action_penalty_is_on_what_tanh_is_given(kind):
    (plain, state), (held, _) = make(kind), make(kind, pretanh_penalty=0.3)
    batch = random_batch()

    def loss(learner):
        return learner.actor_step(state, batch, None, KEY)[1](jnp.ones(DIM))[1]["actor_loss"]

    actor = state.actor.net
    before = {
        "td3": lambda: actor(batch.obs),
        "td7": lambda: jnp.arctanh(actor(batch.obs, state.fixed.state(batch.obs))),
        "stochastic": lambda: actor.moments(batch.obs)[0],
    }[kind]()
    assert float(loss(held) - loss(plain)) == pytest.approx(0.3 * float(jnp.square(before).mean()), rel=1e-3)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("kind", LEARNERS)
def test_value_is_psi_of_the_first_twin_at_the_policys_action(kind):
    learner, state = make(kind)
    state, obs = doubled(state), random_batch().obs
    other = state._replace(critic=eqx.tree_at(lambda c: c.net, state.critic, random_like(state.critic.net)))
    value = jax.jit(learner.value, static_argnames="target")
    for j, e_j in enumerate(jnp.eye(DIM)):
        expected = jax.jit(lambda s, e: written_out(kind, s, s.actor.net, obs, e, KEY))(other, e_j)
        assert float(value(other, obs, KEY)[:, j].mean()) == pytest.approx(float(expected), rel=1e-9)
    assert_close(value(other, obs, KEY, target=True), value(state, obs, KEY), rtol=1e-9)  # its targets


def test_smoothing_noise_is_gaussian_and_clipped():
    noise = np.asarray(smoothing_noise(KEY, jnp.zeros((4000, 2)), 0.2, 0.5))
    assert np.abs(noise).max() == 0.5
    inside = np.abs(noise) < 0.5
    assert inside.mean() == pytest.approx(0.9876, abs=0.005)  # P(|z| < 2.5)
    assert noise.std() == pytest.approx(0.197, abs=0.005)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.05  # each dimension has its own
