"""The witness, the telescoping estimator and the expert's sums, against their definitions."""

import dataclasses

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
    descending,
    doubled,
    make,
    minus,
    random_batch,
    random_demos,
    rng,
    small_sfm,
)

from sfm.agents.learners.base import Critics
from sfm.agents.nets import first
from sfm.agents.objectives.sfm import SFM, telescoped
from sfm.agents.optim import Average

GAMMA = SPEC.gamma
KEY = jax.random.key(2)
ONLINE, TARGET = np.random.default_rng(4).normal(size=(2, SPEC.obs_dim, DIM)).astype(np.float32)


def value(obs, key, target=False):
    """A psi that is linear in the state."""
    return obs @ (TARGET if target else ONLINE)


# Prop. 1 on a Markov chain with random transitions.


def rows_from_occupancy(follow, start, psi):
    """psi and psi' over all transitions, weighted by the discounted occupancy: [n*n, d] each."""
    n = len(start)
    occupancy = (1 - GAMMA) * np.linalg.solve(np.eye(n) - GAMMA * follow.T, start)
    weight = (n * n) * (occupancy[:, None] * follow).reshape(-1, 1)
    now, following = np.divmod(np.arange(n * n), n)
    return weight * psi[now], weight * psi[following], following


@pytest.fixture
def chain():
    rng = np.random.default_rng(0)
    follow = rng.dirichlet(np.ones(6), 6)
    return follow, rng.dirichlet(np.ones(6)), rng.normal(size=(6, DIM))


def test_telescoping_gives_the_successor_features_of_the_start(chain):
    follow, start, phi = chain
    psi = np.linalg.solve(np.eye(6) - GAMMA * follow, phi)
    now, following, _ = rows_from_occupancy(follow, start, psi)
    np.testing.assert_allclose(telescoped(now, following, np.ones(36), GAMMA), start @ psi, rtol=1e-5)


def test_telescoping_stops_at_terminal_states(chain):
    """State 5 is the end: it has no features, and what a critic says of it must not matter."""
    follow, start, phi = chain
    start = np.append(start[:5] / start[:5].sum(), 0)
    follow[5], phi[5] = np.eye(6)[5], 0
    psi = np.linalg.solve(np.eye(6) - GAMMA * follow, phi)
    now, following, where = rows_from_occupancy(follow, start, psi)
    following[where == 5] = 1e3
    np.testing.assert_allclose(telescoped(now, following, where < 5, GAMMA), start @ psi, rtol=1e-5)


# The witness.


def objective(normalise="none", **changes):
    sfm = SFM(small_sfm(**changes), SPEC._replace(normalise=normalise))
    return sfm, sfm.init(rng())


@pytest.fixture(scope="module")
def weighed():
    """weighed(turns, **changes): the state, weight and metrics after so many turns with one batch."""

    def run(turns, **changes):
        sfm, o = objective(**changes)
        batch, recent = random_batch(0), random_batch(1)

        @jax.jit
        def turn(o, number):
            now = context(batch, recent=recent, step=number)
            weight, o, metrics = sfm.weight(o, value(batch.obs, KEY), value, now)
            return o, weight, metrics

        for i in range(1, turns + 1):
            o, weight, metrics = turn(o, i)
        return sfm, o, weight, metrics

    return run


def turned(sfm, o, batch, **others):
    """The state after a turn."""
    return sfm.weight(o, value(batch.obs, KEY), value, context(batch, **others))[1]


def estimate(batch, following=TARGET):
    obs, next_obs, mask = (np.asarray(x) for x in (batch.obs, batch.next_obs, batch.mask))
    return (obs @ ONLINE - GAMMA * mask[:, None] * (next_obs @ following)).mean(0) / (1 - GAMMA)


@pytest.mark.parametrize("turns", [1, 5])
def test_the_witness_is_expert_minus_policy_whatever_the_number_of_turns(weighed, turns):
    sfm, o, weight, metrics = weighed(turns, actor_loss="witness")
    expert = np.asarray(expert_features(sfm, o, random_demos()))
    assert_close(o.expert.mean, expert)
    assert_close(o.policy.mean, estimate(random_batch(0)))
    witness = expert - estimate(random_batch(0))
    assert_close(weight, (1 - GAMMA) * witness)
    assert float(metrics["gap"]) == pytest.approx(np.mean(((1 - GAMMA) * witness) ** 2), rel=1e-5)
    assert float(metrics["expert_norm"]) == pytest.approx((1 - GAMMA) * np.linalg.norm(expert), rel=1e-5)


def test_the_online_psi_values_the_next_state_where_asked_for(weighed):
    _, o, *_ = weighed(1, bootstrap="online")
    assert_close(o.policy.mean, estimate(random_batch(0), following=ONLINE))


def test_an_independent_witness_is_estimated_on_the_recent_batch(weighed):
    sfm, o, *_ = weighed(1, witness_batch="independent")
    assert sfm.uses_recent
    assert_close(o.policy.mean, estimate(random_batch(1)))


def test_visits_are_matched_by_the_features_of_the_states_themselves(weighed):
    sfm, o, *_ = weighed(1, match_from="visits", witness_batch="independent")
    demos = random_demos()
    assert_close(o.policy.mean, sfm.phi(o, random_batch(1).obs).mean(0) / (1 - GAMMA))
    each = [sfm.phi(o, demos.obs[i, :n]).mean(0) for i, n in enumerate((5, 3))]
    assert_close(o.expert.mean, (each[0] + each[1]) / 2 / (1 - GAMMA))


@pytest.mark.parametrize(
    ("settings", "recent"),
    [
        ({}, [100_000, 100_000]),
        ({"witness_window": 9_000}, [9_000, 9_000]),
        ({"witness_share": 0.2}, [60_000, 20_000]),
        ({"witness_share": 0.01}, [50_500, 4_000]),
    ],
)
def test_the_witness_looks_at_a_window_that_shrinks_with_the_run(settings, recent):
    sfm, _ = objective(match_from="visits", witness_batch="independent", **settings)
    np.testing.assert_allclose(sfm.recent(np.full(2, 100_000), np.array([0.5, 1.0])), recent)
    np.testing.assert_allclose(sfm.recent(np.full(2, 500), np.array([0.5, 1.0])), 500)


def test_the_state_stands_beside_phi_where_asked_for():
    batch = random_batch()
    sfm, o = objective("features", state_weight=2.0, centre=True)
    plain, p = objective("features", centre=True)
    assert sfm.dim == DIM + SPEC.obs_dim
    (o, cumulant, _), (p, alone, _) = (f.update(s, context(batch)) for f, s in ((sfm, o), (plain, p)))
    assert_close(cumulant[:, :DIM], alone)
    assert_close(cumulant[:, DIM:], 2 * o.moments.standardise(batch.obs), atol=1e-5)  # their mean is 0
    assert_close(sfm.phi(o, batch.obs), cumulant)


@pytest.fixture
def living():
    """An objective with the feature of those that are alive, in a world where episodes end."""
    settings = small_sfm(
        match_from="visits",
        witness_batch="independent",
        tail="truncate",
        centre=True,
        alive_weight=2.0,
        ema=0.0,
    )
    sfm = SFM(settings, SPEC._replace(terminates=True))
    return sfm, sfm.init(rng())


def test_being_alive_is_a_feature_only_where_episodes_end(living):
    sfm, o = living
    assert sfm.dim == DIM + 1
    assert_close(sfm.phi(o, jnp.ones((3, SPEC.obs_dim)))[:, -1], np.full(3, 2.0))
    assert SFM(sfm.config, SPEC).dim == DIM


def test_ends_take_as_much_of_the_policys_time_as_the_discount_looks_ahead(living):
    """One state in four is the last: an end of 1 / (1 - gamma) = 2.5 steps for four states."""
    sfm, o = living
    batch = random_batch()
    assert 1 - batch.mask.mean() == 0.25
    after = turned(sfm, o, batch)
    assert_close(after.policy.mean, sfm.phi(o, batch.obs).mean(0) / (1 - GAMMA) * 4 / 6.5)
    assert float(after.expert.mean[-1]) == pytest.approx(2 / (1 - GAMMA), rel=1e-5)


def test_an_episode_that_ends_scores_less_than_the_same_cut_off(living):
    sfm, o = living
    states = jnp.ones((2, 6, SPEC.obs_dim))
    o = o._replace(expert=o.expert.add(sfm.phi(o, states[0, 0]) / (1 - GAMMA), 0.98))
    whole, ended = sfm.score(o, states, jnp.array([5, 5]), jnp.array([False, True]), jnp.zeros(2))
    assert whole == pytest.approx(0.0, abs=1e-6)
    lost = 1 - 5 / 7.5
    assert ended == pytest.approx(-np.mean(np.square(lost * sfm.phi(o, states[0, 0]))), rel=1e-4)


def test_a_unit_witness_has_length_one_and_the_same_direction(weighed):
    for loss in ("witness", "witness_flow"):
        unit, plain = (np.asarray(weighed(1, actor_loss=loss, unit_witness=u)[2]) for u in (True, False))
        assert np.linalg.norm(unit) == pytest.approx(1)
        assert_close(unit, plain / np.linalg.norm(plain))


def test_the_averages_forget_geometrically():
    sfm, o = objective(ema=0.9)
    totals = []
    for seed in range(3):
        batch = random_batch(seed)
        o = turned(sfm, o, batch)
        totals.append(estimate(batch))
    weights = 0.9 ** np.array([2, 1, 0])
    assert_close(o.policy.mean, weights @ totals / weights.sum())


# The actor's loss, differentiated.


@pytest.mark.usefixtures("double")
def test_the_actors_gradient_is_that_of_the_losses_as_written():
    """`witness_flow` is a loss with gradients through the policy's newest features in the average; the code
    reaches the same gradients with a constant weight."""
    learner, s = make("td3")
    s = doubled(s)
    s = s._replace(actor=descending(s.actor))
    sfm, o = objective()
    batch, rho = random_batch(), sfm.config.ema

    def losses(actor, o, after):
        """The two losses of (1 - gamma)^2 <E - Pi, E - average of Pi>."""
        critic = first(s.critic.net)
        psi = critic(batch.obs, jnp.tanh(actor(batch.obs))).mean(0)
        following = first(s.target_critic)(batch.next_obs, jnp.tanh(s.actor.net(batch.next_obs)))
        policy = (psi - GAMMA * (batch.mask[:, None] * following).mean(0)) / (1 - GAMMA)
        average = (rho * o.policy.total + (1 - rho) * policy) / (rho * o.policy.weight + 1 - rho)
        expert = after.expert.mean

        def inner(a, b):
            return (1 - GAMMA) ** 2 * a @ b

        return {
            "witness": inner(expert - policy, expert - jax.lax.stop_gradient(average)),
            "witness_flow": inner(expert - policy, expert - average),
        }

    @jax.jit
    def turn(o):
        def psi(obs, key, target=False):
            return learner.value(s, obs, key, target=target)

        found, afters = {}, {}
        for name in ("witness", "witness_flow"):
            variant = SFM(dataclasses.replace(sfm.config, actor_loss=name), SPEC)
            climbed, climb = learner.actor_step(s, batch, None, KEY)
            weight, afters[name], _ = variant.weight(o, climbed, psi, context(batch))
            moved, _ = climb(weight)
            found[name] = minus(s.actor.net, moved.actor.net)
        after = afters["witness"]
        expected = jax.jacrev(losses)(s.actor.net, o, after)
        return after, found, expected

    o = doubled(o)
    o = o._replace(
        policy=Average(jnp.zeros(DIM), jnp.zeros(())), expert=Average(jnp.zeros(DIM), jnp.zeros(()))
    )
    for _ in range(2):  # from empty averages, and from averages of something else
        after, found, expected = turn(o)
        for name in found:
            assert_close(found[name], expected[name], rtol=1e-7, atol=1e-10)
        o = after._replace(policy=Average(jnp.array([1.0, -3.0, 2.0]), jnp.array(0.7)))
    assert float(jnp.abs(found["witness_flow"].layers[0].weight).max()) > 1e-4


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


# The expert's term.


def phi_on_host(sfm, o, obs):
    return sfm.phi(jax.device_get(o), np.asarray(obs))


def sum_by_hand(sfm, o, states, tail):
    """The successor features of one demonstration from its first state."""
    phi, last = phi_on_host(sfm, o, states), len(states) - 1
    rest = {"truncate": phi[last], "bootstrap": states[last] @ ONLINE}[tail]
    return sum(GAMMA**t * phi[t] for t in range(last)) + GAMMA**last * rest


def expert_features(sfm, o, demos):
    return jax.jit(lambda o, d: sfm.expert_features(o, value, d, KEY))(o, demos)


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
