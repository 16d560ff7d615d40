"""TD7: three encoders, hard copies, and targets clipped to the range seen."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import (
    DIM,
    SPEC,
    assert_close,
    bootstrap,
    descending,
    make,
    minus,
    on_host,
    random_batch,
    random_like,
    regression,
    same,
)

from sfm.agents.learners.base import smoothing_noise
from sfm.agents.learners.td7 import Bounds
from sfm.agents.nets import avg_l1_norm
from sfm.agents.optim import Trained

KEY = jax.random.key(1)


@pytest.fixture(scope="module")
def apart():
    """A learner and a state in which every network and bound differs from its copies."""
    learner, s = make("td7", target_noise=0.0)
    nets = [random_like(x, i) for i, x in enumerate((s.encoder.net, s.fixed, s.actor.net, s.critic.net))]
    encoder, fixed, actor, critic = nets
    return learner, s._replace(
        encoder=Trained(encoder, s.encoder.opt, s.encoder.tx),
        fixed=fixed,
        actor=Trained(actor, s.actor.opt, s.actor.tx),
        critic=Trained(critic, s.critic.opt, s.critic.tx),
        seen=Bounds(jnp.array(-0.2), jnp.array(0.3)),
    )


def test_every_interval_each_copy_becomes_the_next(apart):
    learner, s = apart
    sync = jax.jit(learner.sync)
    assert same(sync(s, 249), s)
    after = sync(s, 500)
    assert same(after.fixed, s.encoder.net)
    assert same(after.target_encoder, s.fixed)
    assert same(after.target_actor, s.actor.net)
    assert same(after.target_critic, s.critic.net)
    assert same(after.clip, s.seen)
    assert same(
        (after.encoder, after.actor, after.critic, after.seen), (s.encoder, s.actor, s.critic, s.seen)
    )


def test_targets_read_the_target_encoder_and_are_clipped(apart):
    learner, s = apart
    s, batch = s._replace(clip=s.seen), random_batch()
    obs, host = np.asarray(batch.next_obs), jax.device_get((s.target_encoder, s.target_actor))
    encoder, actor = host
    zs, zsa = encoder(obs, actor(obs, encoder.state(obs)))
    psi = np.mean([c(obs, actor(obs, zs), zs, zsa) for c in on_host(s.target_critic)], 0)
    assert (psi < -0.2).any()
    assert (psi > 0.3).any()
    expected = SPEC.gamma * np.asarray(batch.mask)[:, None] * np.clip(psi, -0.2, 0.3)
    assert_close(bootstrap(learner, s, batch), expected)


def test_embeddings_are_as_defined(apart):
    _, s = apart
    encoder, obs, action = jax.device_get(s.fixed), *map(np.asarray, random_batch()[:2])
    zs, zsa = encoder(obs, action)
    assert_close(zs, avg_l1_norm(encoder.state.mlp(obs)))
    assert_close(np.abs(zs).mean(-1), np.ones(32))
    assert_close(zsa, encoder.dynamics(np.concatenate([zs, action], -1)))
    critic = on_host(s.critic.net)[0]
    stem = avg_l1_norm(critic.stem(np.concatenate([obs, action], -1)))
    assert_close(critic(obs, action, zs, zsa), critic.mlp(np.concatenate([stem, zsa, zs], -1)))
    actor = jax.device_get(s.actor.net)
    assert_close(actor(obs, zs), np.tanh(actor.mlp(np.concatenate([avg_l1_norm(actor.stem(obs)), zs], -1))))


@pytest.fixture(scope="module")
def early():
    """332 updates on one batch, and the state after the 249th."""
    learner, s = make("td7")
    batch, cumulant = random_batch(), np.random.default_rng(1).normal(size=(32, DIM)).astype(np.float32)

    @jax.jit
    def run(s, steps):
        def update(s, step):
            loss = regression(batch, cumulant)
            s, metrics = learner.critic_step(s, batch, loss, jax.random.fold_in(KEY, step))
            s = learner.sync(s, step)
            return s, (metrics, s.seen, s.clip)

        return jax.lax.scan(update, s, steps)

    history = []
    for begin in (0, 83, 166, 249):
        after_249 = s
        s, seen = run(s, begin + jnp.arange(1, 84))
        history.append(seen)
    metrics, seen, clip = jax.tree.map(lambda *parts: np.concatenate(parts), *history)
    return learner, batch, cumulant, after_249, metrics, seen, clip


def test_until_the_first_copy_the_target_is_the_cumulant_itself(early):
    learner, batch, cumulant, after_249, metrics, seen, clip = early
    assert not bootstrap(learner, after_249, batch).any()  # at the 250th update
    np.testing.assert_allclose(metrics["target_abs"][:250], np.abs(cumulant).mean(), rtol=1e-6)
    np.testing.assert_array_equal(seen.low[:250], cumulant.min())
    np.testing.assert_array_equal(seen.high[:250], cumulant.max())
    np.testing.assert_array_equal(clip.low, np.where(np.arange(1, 333) < 250, 0, cumulant.min()))
    assert (metrics["target_abs"][250:] != metrics["target_abs"][0]).all()


def test_the_encoder_learns_to_predict_its_next_embedding(early):
    loss = early[4]["encoder_loss"]
    assert loss[-1] < 0.9 * loss[0]


def test_the_encoder_is_not_trained_by_the_critics_loss(apart):
    learner, s = apart
    step = jax.jit(lambda s, b, c: learner.critic_step(s, b, regression(b, c), KEY)[0])
    one, two = (step(s, random_batch(), np.full((32, DIM), c, np.float32)) for c in (0.0, 5.0))
    assert same(one.encoder, two.encoder)
    assert not same(one.critic, two.critic)
    # Nothing is bootstrapped yet: these targets are all 0, or all 5, and the bounds seen only widen.
    assert_close((one.seen, two.seen), (s.seen, Bounds(s.seen.low, 5.0)))


def test_targets_are_smoothed_by_noise_on_the_target_actors_action(apart):
    _, s = apart
    learner, _ = make("td7")
    s, batch = s._replace(clip=Bounds(jnp.array(-1e6), jnp.array(1e6))), random_batch()
    obs = np.asarray(batch.next_obs)
    encoder, actor = jax.device_get((s.target_encoder, s.target_actor))
    zs = encoder.state(obs)
    noise = np.asarray(smoothing_noise(KEY, batch.action, 0.2, 0.5))
    action = np.clip(actor(obs, zs) + noise, -1, 1)
    psi = np.mean([c(obs, action, *encoder(obs, action)) for c in on_host(s.target_critic)], 0)
    expected = SPEC.gamma * np.asarray(batch.mask)[:, None] * psi
    assert_close(bootstrap(learner, s, batch), expected, rtol=1e-4, atol=1e-4)


def test_critic_actor_and_acting_policy_read_the_fixed_encoder(apart):
    """Of three encoders that differ; psi is that of the first twin."""
    learner, s = apart
    batch = random_batch()
    obs, action = np.asarray(batch.obs), np.asarray(batch.action)
    encoder, actor = jax.device_get((s.fixed, s.actor.net))
    acted = actor(obs, encoder.state(obs))
    fitted = np.stack([critic(obs, action, *encoder(obs, action)) for critic in on_host(s.critic.net)])
    climbed = on_host(s.critic.net)[0](obs, acted, *encoder(obs, acted))
    some = np.random.default_rng(0).normal(size=fitted.shape).astype(np.float32)
    acting = []

    def loss(critics):
        acting.append(critics.pi(batch.obs)[0])
        return (some * critics.psi(batch.obs, batch.action)).sum(), jnp.zeros((32, DIM))

    _, metrics = learner.critic_step(s, batch, loss, KEY)
    assert float(metrics["critic_loss"]) == pytest.approx(float((some * fitted).sum()), rel=1e-3)
    psi, climb = learner.actor_step(s, batch, lambda pi: (action * pi(batch.obs)).sum(), KEY)
    _, metrics = climb(None)  # the penalty alone
    assert float(metrics["actor_loss"]) == pytest.approx(float((action * acted).sum()), rel=1e-3)
    acting.append(jax.device_get(learner.policy(s))(obs))
    for found, wanted in ((acting, [acted] * 2), ([psi, learner.value(s, batch.obs, KEY)], [climbed] * 2)):
        assert_close(found, wanted, rtol=1e-3, atol=1e-3)


def test_the_next_embedding_is_a_target_and_is_not_learned(apart):
    """One step of plain descent subtracts the gradient of mean (zsa - zs')^2 with zs' a constant."""
    learner, s = apart
    s, batch = s._replace(encoder=descending(s.encoder)), random_batch()
    following = np.asarray(s.encoder.net.state(batch.next_obs))

    def loss(net):
        return jnp.square(net.dynamics(net.state(batch.obs), batch.action) - following).mean()

    after, _ = learner.critic_step(s, batch, regression(batch, jnp.zeros((32, DIM))), KEY)
    assert_close(minus(s.encoder.net, after.encoder.net), jax.grad(loss)(s.encoder.net), rtol=1e-3, atol=1e-3)
