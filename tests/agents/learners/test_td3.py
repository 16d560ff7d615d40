"""TD3: which targets move, when, and towards what."""

import jax
import numpy as np
import pytest
from helpers import (
    DIM,
    SPEC,
    assert_close,
    bootstrap,
    make,
    on_host,
    random_batch,
    random_like,
    regression,
    same,
)

from sfm.agents.optim import Trained, polyak

KEY, ONES = jax.random.key(1), np.ones(DIM, np.float32)


def moved(state):
    """A state whose online networks have left their targets."""
    actor, critic = (Trained(random_like(t.net), t.opt, t.tx) for t in (state.actor, state.critic))
    return state._replace(actor=actor, critic=critic)


@pytest.mark.parametrize(
    ("polyak_on", "moves"), [("actor_steps", [False, True]), ("every_step", [True, True])]
)
def test_targets_move_on_the_named_steps(polyak_on, moves):
    learner, state = make("td3", polyak_on=polyak_on)
    state = moved(state)
    sync = jax.jit(learner.sync)
    for step, moves_now in zip((3, 4), moves, strict=True):
        after = sync(state, step)
        assert same(after.target_critic, state.target_critic) != moves_now
        if moves_now:
            assert_close(after.target_critic, polyak(state.target_critic, state.critic.net, 0.005))


def psi_of(critics, obs, action):
    """[2, B, d], in NumPy."""
    return np.stack([critic(np.asarray(obs), np.asarray(action)) for critic in on_host(critics)])


def pi(actor, obs):
    return np.tanh(jax.device_get(actor)(np.asarray(obs)))


@pytest.mark.parametrize("mode", ["online", "polyak"])
def test_the_named_actor_acts_in_the_target(mode):
    learner, start = make("td3", target_actor=mode, target_noise=0.0, polyak_on="every_step")
    state, batch = moved(start), random_batch()
    after = learner.sync(state, 2)
    actor = {
        "online": lambda: state.actor.net,
        "polyak": lambda: polyak(start.actor.net, state.actor.net, 0.005),
    }[mode]()
    psi = psi_of(after.target_critic, batch.next_obs, pi(actor, batch.next_obs))
    expected = SPEC.gamma * np.asarray(batch.mask)[:, None] * psi.mean(0)
    assert_close(bootstrap(learner, after, batch), expected)
    if mode == "online":
        expected = SPEC.gamma * np.asarray(batch.mask)[:, None] * psi.min(0)
        assert_close(bootstrap(learner, after, batch, "min"), expected)


def test_noisy_target_actions_stay_in_bounds():
    learner, state = make("td3", target_noise=1e6, target_noise_clip=1e6)
    batch = random_batch()
    corners = [np.full((32, 2), c, np.float32) for c in ([1, 1], [1, -1], [-1, 1], [-1, -1])]
    psi = np.stack([psi_of(state.target_critic, batch.next_obs, c).mean(0) for c in corners])
    expected = SPEC.gamma * np.asarray(batch.mask)[:, None] * psi
    misses = np.abs(expected - bootstrap(learner, state, batch)).max(-1)  # [corner, row]
    assert misses.min(0).max() < 1e-5


def test_the_critics_loss_is_the_squared_error_summed_over_twins():
    learner, state = make("td3")
    batch, cumulant = random_batch(), np.random.default_rng(1).normal(size=(32, DIM)).astype(np.float32)
    step = jax.jit(lambda s, b, c, k: learner.critic_step(s, b, regression(b, c), k))
    _, metrics = step(state, batch, cumulant, KEY)
    y = cumulant + bootstrap(learner, state, batch)
    error = psi_of(state.critic.net, batch.obs, batch.action) - y
    assert float(metrics["critic_loss"]) == pytest.approx((error**2).mean((1, 2)).sum(), rel=1e-5)
    assert float(metrics["target_abs"]) == pytest.approx(np.abs(y).mean(), rel=1e-5)


def test_the_actor_reads_the_named_twin():
    batch = random_batch()
    for twin in ("first", "mean", "min"):
        learner, state = make("td3", actor_twin=twin)
        state = moved(state)
        step = jax.jit(lambda s, b, learner=learner: learner.actor_step(s, b, None, KEY)[1](ONES)[1])
        psi = psi_of(state.critic.net, batch.obs, pi(state.actor.net, batch.obs))
        expected = {"first": psi[0], "mean": psi.mean(0), "min": psi.min(0)}[twin].sum(-1).mean()
        assert float(step(state, batch)["actor_loss"]) == pytest.approx(-expected, rel=1e-5)
