"""The witness and the telescoping estimator, against their definitions."""

import dataclasses

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
from linear import GAMMA, KEY, ONLINE, TARGET, expert_features, objective, turned, value

from sfm.agents.nets import first
from sfm.agents.objectives.sfm import SFM, telescoped
from sfm.agents.optim import Average

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
        ({"witness_share": 0.2, "witness_newest": 8_000}, [[60_000, 8_000], [20_000, 8_000]]),
        ({"witness_window": 5_000, "witness_newest": 8_000}, [[5_000, 5_000]] * 2),
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


@pytest.mark.parametrize("matched", [None, (0, 2, 3)])
def test_observations_count_alike_however_many_numbers_they_have(matched):
    """Three numbers of a pose and one height: together the pose has the weight that the height has."""
    spec = SPEC._replace(obs_dim=4, matched=matched, observation=("pose", "pose", "height", "pose"))
    config = small_sfm("random", state_weight=3.0, state_by="observation")
    sfm = SFM(config, spec)
    o = sfm.init(np.random.default_rng(0))
    obs = jnp.eye(4)
    beside = np.asarray(sfm.phi(o, obs))[:, -spec.matched_dim :] / sfm.scale
    pose = 3 / 3**0.5 if matched is None else 3 / 2**0.5
    weights = [pose, pose, 3.0, pose]
    columns = list(matched or range(4))
    np.testing.assert_allclose(beside, np.diag(weights)[:, columns], rtol=1e-5)
    assert sfm.parts["state"] == len(columns)


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


def test_of_many_demonstrations_some_states_stand_for_all(weighed, monkeypatch):
    """Always the same ones, so that landmarks stay where they are."""
    sfm, o, *_ = weighed(1, match_from="visits", witness_batch="independent")
    obs = np.random.default_rng(0).normal(size=(2, 241, random_demos().obs.shape[-1])).astype(np.float32)
    demos = random_demos()._replace(obs=jnp.asarray(obs), length=jnp.array([240, 120]))
    assert sfm.shown(demos) is demos
    monkeypatch.setattr("sfm.agents.objectives.cost.MOST_STATES", 482 // 4 + 1)  # every fourth
    states = jnp.concatenate([demos.obs[:, 2::4], demos.obs[:, -1:]], 1)  # what comes after the last: any
    fourth = demos._replace(obs=states, length=jnp.array([60, 30]))
    some = np.asarray(expert_features(sfm, o, sfm.shown(demos)))
    assert_close(some, expert_features(sfm, o, fourth))
    assert np.abs(some - np.asarray(expert_features(sfm, o, demos))).max() > 1e-3
    from_start, *_ = weighed(1)
    assert from_start.shown(demos) is demos
