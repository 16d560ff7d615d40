"""SFM's expert and its features: sums against their definitions, and phi inside the objective."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import (
    DIM,
    SPEC,
    assert_close,
    context,
    random_batch,
    random_demos,
    rng,
    small_sfm,
)
from linear import GAMMA, KEY, ONLINE, expert_features, objective, turned, value

from sfm.agents.learners.base import Critics
from sfm.agents.objectives.sfm import SFM

# The expert's term.


def phi_on_host(sfm, o, obs):
    return sfm.phi(jax.device_get(o), np.asarray(obs))


def sum_by_hand(sfm, o, states, tail):
    """The successor features of one demonstration from its first state."""
    phi, last = phi_on_host(sfm, o, states), len(states) - 1
    rest = {"truncate": phi[last], "bootstrap": states[last] @ ONLINE}[tail]
    return sum(GAMMA**t * phi[t] for t in range(last)) + GAMMA**last * rest


@pytest.mark.parametrize("tail", ["truncate", "bootstrap"])
def test_the_experts_sum_and_its_tail(tail):
    sfm, o = objective(tail=tail)
    demos = random_demos((5, 1, 3), padding=77.0)
    episodes = [np.asarray(x)[: n + 1] for x, n in zip(demos.obs, demos.length, strict=True)]
    expected = np.mean([sum_by_hand(sfm, o, states, tail) for states in episodes], 0)
    assert_close(expert_features(sfm, o, demos), expected)


def test_expert_features_are_recomputed_on_the_due_turns_only():
    sfm, o = objective(expert_interval=3)
    batch, demos = random_batch(), random_demos()

    @jax.jit
    def turn(o, number):
        return turned(sfm, o, batch, step=number), sfm.expert_features(o, value, demos, KEY)

    last = None
    for number in range(1, 9):
        # phi changes before every turn
        o = o._replace(features=jax.tree.map(lambda x: x * np.float32(1.1), o.features))
        o, now = turn(o, number)
        last = now if number in (1, 4, 7) else last
        assert_close(o.expert_now, last)
        assert number in (1, 4, 7) or not np.allclose(last, now, rtol=1e-4)


def test_between_recomputations_the_experts_features_follow_the_centre():
    sfm, o = objective(centre=True, expert_interval=3, match_from="visits", ema=0.0)
    batch, demos = random_batch(), random_demos()

    @jax.jit
    def turn(o, number):
        return turned(sfm, o, batch, step=number)

    witnesses = []
    for number in (1, 2, 3):  # only the centre changes
        o = o._replace(centre=o.centre.add(jnp.full(sfm.dim, number**2.0), 0.5))
        o = turn(o, number)
        assert_close(o.expert.mean, sfm.expert_features(o, value, demos, KEY))
        witnesses.append(o.expert.mean - o.policy.mean)
    assert_close(witnesses[1], witnesses[0], atol=1e-4)
    assert_close(witnesses[2], witnesses[0], atol=1e-4)


def test_the_score_of_an_episode_is_minus_its_feature_gap():
    sfm, o = objective()
    o = o._replace(expert=o.expert.add(jnp.array([1.0, 2.0, 3.0]), 0.98))
    episodes = random_demos((5, 2, 4), padding=77.0)
    ended = np.array([True, False, True])
    scores = jax.jit(sfm.score)(o, episodes.obs, episodes.length, ended, jnp.zeros(3))
    for i, length in enumerate(np.asarray(episodes.length)):
        phi = phi_on_host(sfm, o, episodes.obs[i])
        mass = 1.0 if ended[i] else 1 - GAMMA**length
        gap = np.array([1, 2, 3]) - sum(GAMMA**t * phi[t] for t in range(length)) / mass
        assert float(scores[i]) == pytest.approx(-np.mean(((1 - GAMMA) * gap) ** 2), rel=1e-4)


@pytest.mark.parametrize(("match_from", "lost"), [("start", GAMMA**5), ("visits", 0.0)])
def test_an_episode_cut_off_in_the_experts_only_state_scores_best(match_from, lost):
    """However short the episode: what follows is taken to be like it. One that ended lacks what would have
    followed; among visits that shows only in a feature of being alive."""
    sfm, o = objective(match_from=match_from)
    states = jnp.ones((2, 6, SPEC.obs_dim))
    o = o._replace(expert=o.expert.add(sfm.phi(o, states[0, 0]) / (1 - GAMMA), 0.98))
    whole, ended = sfm.score(o, states, jnp.array([5, 5]), jnp.array([False, True]), jnp.zeros(2))
    assert whole == pytest.approx(0.0, abs=1e-6)
    assert ended == pytest.approx(-np.mean(np.square(lost * sfm.phi(o, states[0, 0]))), rel=1e-4, abs=1e-6)


# Features inside the objective.


@pytest.mark.parametrize("method", ["fdm", "hr"])
def test_the_cumulant_is_phi_before_the_step_and_passes_no_gradient(method):
    sfm, o = objective(method=method)
    batch = random_batch()

    @jax.jit
    def run(o):
        after, cumulant, _ = sfm.update(o, context(batch))
        blocked = eqx.filter_grad(lambda o: sfm.update(o, context(batch))[1].sum())(o)
        return after, cumulant, blocked, sfm.features.phi(o.features)(batch.obs)

    after, cumulant, blocked, phi = run(o)
    centre = np.asarray(phi).mean(0) if method == "hr" else 0.0  # the first average is the batch mean itself
    assert_close(cumulant, phi - centre, atol=1e-5)
    assert all(not np.asarray(g).any() for g in jax.tree.leaves(blocked))
    assert not np.allclose(sfm.features.phi(after.features)(batch.obs), phi, atol=1e-6)


def test_centred_features_have_mean_zero_in_replay():
    sfm, o = objective(centre=True)
    step = jax.jit(lambda o, b: sfm.update(o, context(b)))
    means = []
    for seed in range(3):
        batch = random_batch(seed)
        o, cumulant, _ = step(o, batch)
        phi = sfm.features.phi(jax.device_get(o.features))(np.asarray(batch.obs))
        means.append(phi.mean(0))
        weights = 0.995 ** np.arange(seed, -1, -1)
        assert_close(cumulant, phi - weights @ means / weights.sum(), atol=1e-5)


def test_standardised_features_do_not_know_the_units_of_the_state():
    sfm, o = objective("features")
    batch, units = random_batch(), np.array([1.0, 10.0, 0.5, 3.0], np.float32)
    step = jax.jit(lambda o, b: sfm.update(o, context(b))[:2])
    after, cumulant = step(o, batch)
    _, same = step(o, batch._replace(obs=5 + units * batch.obs, next_obs=5 + units * batch.next_obs))
    assert_close(cumulant, same, atol=1e-4)
    assert_close(cumulant, jax.jit(sfm.phi)(after, batch.obs))  # the demonstrations are seen the same way
    assert not np.allclose(
        cumulant, sfm.features.phi(jax.device_get(o.features))(np.asarray(batch.obs)), atol=0.1
    )


def test_features_learn_every_interval_steps():
    sfm, o = objective(method="ae", interval=3)
    step = jax.jit(lambda o, number: sfm.update(o, context(step=number)))
    changed, losses = [], []
    for number in range(1, 7):
        before = o
        o, _, metrics = step(o, number)
        changed.append(not eqx.tree_equal(before.features, o.features))
        losses.append(float(metrics["feature_loss"]))
    assert changed == [False, False, True] * 2
    _, _, every = jax.jit(SFM(small_sfm(method="ae"), SPEC).update)(before, context())
    assert losses[3:5] == [0, 0]
    assert losses[5] / 3 == pytest.approx(
        float(every["feature_loss"]), rel=1e-4
    )  # so that their mean is right


def test_the_error_of_psi_along_the_witness_counts_besides():
    """psi is 0 and its target the cumulant, so that the error is minus the cumulant."""
    sfm = SFM(small_sfm("fdm", witness_error_weight=2.0), SPEC)
    o = sfm.init(rng())
    o = o._replace(
        expert=o.expert.add(jnp.arange(1.0, DIM + 1), 0.5), policy=o.policy.add(jnp.ones(DIM), 0.5)
    )
    batch = random_batch()
    cumulant = np.random.default_rng(5).normal(size=(batch.obs.shape[0], DIM)).astype(np.float32)

    def nothing(*_):
        return jnp.zeros((2, batch.obs.shape[0], DIM))

    critics = Critics(nothing, nothing, nothing, lambda twins: jnp.zeros_like(cumulant))  # pyright: ignore
    unit = np.arange(DIM) / np.linalg.norm(np.arange(DIM))
    want = 2 * (np.square(cumulant).mean() + 2.0 * np.square(cumulant @ unit).mean())  # of two networks
    loss, y = sfm.critic_loss(o, critics, batch, jnp.asarray(cumulant))
    assert float(loss) == pytest.approx(want, rel=1e-5)
    assert_close(y, cumulant)
    plain, _ = SFM(small_sfm("fdm"), SPEC).critic_loss(o, critics, batch, jnp.asarray(cumulant))
    assert float(plain) == pytest.approx(2 * np.square(cumulant).mean(), rel=1e-5)


def test_shares_tell_to_which_part_of_phi_the_witness_belongs():
    sfm, o = objective(method="fourier+ae", match_from="visits", state_weight=2.0)
    o, _, _ = sfm.update(o, context())
    _, after, _ = sfm.weight(o, jnp.zeros((8, sfm.dim)), lambda *_, **__: 0.0, context())
    witness = np.square(np.asarray(after.expert.mean - after.policy.mean))
    ends, shares = np.cumsum([0, DIM, DIM, SPEC.obs_dim]), sfm.describe(after)
    assert list(shares) == ["share/fourier", "share/ae", "share/state"]
    for share, i, j in zip(shares.values(), ends[:-1], ends[1:], strict=True):
        assert float(share) == pytest.approx(witness[i:j].sum() / witness.sum(), rel=1e-4)


def test_scaling_psi_changes_nothing_but_its_units():
    """The weight times psi, the gap and the score are those of the unscaled agent."""
    batch, demos, found = random_batch(), random_demos(), []
    for scaled in (False, True):
        sfm, o = objective(scale_psi=scaled, dim=DIM)
        factor = 1 - GAMMA if scaled else 1.0

        def psi(obs, key, target=False, factor=factor):
            return factor * value(obs, key, target)

        def turn(o, sfm=sfm, psi=psi):
            weight, o, metrics = sfm.weight(o, psi(batch.obs, KEY), psi, context(batch))
            score = sfm.score(o, demos.obs, demos.length, jnp.zeros(2, bool), jnp.zeros(2))
            return psi(batch.obs, KEY) @ weight, metrics, score

        found.append(jax.jit(turn)(o))
    assert_close(*found)
