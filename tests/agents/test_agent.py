"""The one order of an update: who changes when, and who never does."""

import copy
import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import LEARNERS, SPEC, assert_close, context, random_batch, random_demos, rng, same, small_sfm

from sfm.agents.agent import make_agent
from sfm.agents.types import NStep
from sfm.config import Config, DiscriminatorConfig, RewardConfig

KEY = jax.random.key(0)


def make(kind="td3", objective=None, normalise="none", n_step=1, **changes):
    learner = dataclasses.replace(LEARNERS[kind], **changes)
    objective = objective or small_sfm("fdm")
    config = Config(
        gamma=SPEC.gamma, learner=learner, objective=objective, normalise=normalise, n_step=n_step
    )
    agent = make_agent(config, SPEC.obs_dim, SPEC.action_dim)
    return agent, agent.init(rng())


def updates(agent, state, count):
    """The states before the first and after each update, and the metrics of each."""
    update = jax.jit(
        lambda s, step: agent.update(
            s, context(recent=random_batch(1), step=step, key=jax.random.fold_in(KEY, step))
        )
    )
    states, metrics = [state], []
    for step in range(1, count + 1):
        state, seen = update(state, step)
        states.append(state)
        metrics.append(seen)
    return states, metrics


def test_the_actor_and_the_witness_move_on_every_second_update():
    states, metrics = updates(*make(objective=small_sfm("fdm", expert_interval=2)), 8)
    acted, expert = [], []
    for step in range(1, 9):
        before, after = states[step - 1], states[step]
        moved = not same(before.learner.actor, after.learner.actor)
        assert moved == (not same(before.objective.policy, after.objective.policy)) == (step % 2 == 0)
        assert not same(before.learner.critic.net, after.learner.critic.net)
        assert not same(before.objective.features.net, after.objective.features.net)
        acted.append(float(metrics[step - 1]["gap"]))
        expert.append(not same(before.objective.expert_now, after.objective.expert_now))
    assert expert == [False, True, False, False, False, True, False, False]  # actor steps 1 and 3
    witness = states[2].objective.expert.mean - states[2].objective.policy.mean
    gap = np.mean(((1 - SPEC.gamma) * np.asarray(witness)) ** 2)
    assert acted[0] == 0
    assert acted[1] == pytest.approx(2 * gap, rel=1e-4)  # so that the mean over both is right


def test_while_the_actor_rests_the_witness_goes_on():
    agent, state = make(objective=small_sfm("fdm"))
    states, metrics = updates(agent.resting(), state, 4)
    awake, _ = updates(agent, state, 4)
    assert same(states[0].learner.actor, states[4].learner.actor)
    assert not same(states[0].objective.expert, states[4].objective.expert)
    assert_close(states[2].objective, awake[2].objective)  # up to there no step of the actor could show
    assert metrics[3]["gap"] > 0


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("objective", [RewardConfig(), DiscriminatorConfig(sees="pair"), small_sfm("random")])
def test_targets_of_several_steps_are_those_of_as_many_single_ones(kind, objective):
    """With one cumulant ahead of weight w and a value at `last`: c(s) + w c(s') + discount * psi(last)."""
    agent, state = make(kind, objective, n_step=2)
    agent = agent._replace(objective=copy.copy(agent.objective))  # that of the others stays as it is
    batch, later = random_batch(), random_batch(3)
    one = [x[:, None] for x in (later.obs, later.next_obs, later.reward, later.mask / 3)]
    ahead = NStep(*one, last=later.goal, discount=later.mask)
    seen = []

    def spy(o, critics, batch, cumulant):
        seen.append((cumulant, critics.bootstrap("mean")))
        return jnp.zeros(()), cumulant

    def updated(batch):
        agent.objective.critic_loss = spy
        agent.update(state, context(batch))
        return jax.tree.map(np.asarray, seen.pop())

    with jax.disable_jit():
        _, bootstrap = updated(batch._replace(next_obs=later.goal, mask=later.mask / SPEC.gamma))
        single, _ = updated(batch)
        both, beyond = updated(batch._replace(n_step=ahead))
    reward = agent.objective.cumulant(state.objective, later.obs, later.next_obs, later.reward)
    assert_close(both, single + np.asarray(later.mask / 3)[:, None] * np.asarray(reward), atol=1e-5)
    assert_close(beyond, bootstrap, atol=1e-5)


@pytest.mark.parametrize(("kind", "method"), [("stochastic", "random"), ("td3", "adversarial")])
def test_critic_and_actor_leave_phi_bit_for_bit(kind, method):
    states, _ = updates(*make(kind, small_sfm(method), actor_delay=1), 2)
    assert same(states[0].objective.features, states[2].objective.features)
    for before, after in itertools.pairwise(states):
        assert not same(before.learner.actor, after.learner.actor)  # with a delay of 1, on every update
        assert not same(before.learner.critic, after.learner.critic)


def test_phi_learns_from_its_own_loss_alone():
    """The features after an update are those of their own step, whatever critic and actor do."""
    agent, start = make(objective=small_sfm("fdm"), actor_delay=1)
    states, _ = updates(agent, start, 1)
    alone, _, _ = jax.jit(agent.objective.features.learn)(  # pyright: ignore
        start.objective.features, random_batch(), random_demos()
    )
    assert_close(states[1].objective.features.net, alone.net, atol=1e-5)


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_takes_every_objective(kind):
    for objective, dim in ((RewardConfig(), 1), (small_sfm("idm"), 3)):
        config = Config(gamma=SPEC.gamma, learner=LEARNERS[kind], objective=objective)
        agent = make_agent(config, SPEC.obs_dim, SPEC.action_dim)

        def run(key, agent=agent):
            state = agent.init(rng())
            return state, agent.update(state, context(key=key))

        state, (after, metrics) = jax.eval_shape(run, KEY)
        assert state.learner.critic.net.mlp.layers[-1].bias.shape == (2, dim)
        assert jax.tree.map(lambda x: (x.shape, x.dtype), after) == jax.tree.map(
            lambda x: (x.shape, x.dtype), state
        )
        assert {"critic_loss", "actor_loss", "value" if dim == 1 else "gap"} <= metrics.keys()


def test_updates_of_seeds_under_vmap_keep_the_delayed_actor_a_branch():
    """With a step number that has no seed axis, `cond` is not turned into a `select`."""
    agent, state = make()
    many = jax.tree.map(lambda x: jnp.stack([x, x]), state)

    def run(step):
        def one(s, k):
            return agent.update(s, context(step=step, key=k))

        return jax.vmap(one)(many, jax.random.split(KEY))

    assert "cond[" in str(jax.make_jaxpr(run)(2))


def stretched(states, scale=50.0, shift=7.0):
    """The same states in other units."""
    fields = [f for f in ("obs", "next_obs", "goal") if f in states._fields]
    return states._replace(**{f: scale * getattr(states, f) + shift for f in fields})


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_normalising_agent_does_not_see_the_units_of_states(kind):
    """Update, acting and scoring in one system of units give what they give in another."""
    agent, state = make(kind, normalise="all")

    def run(unit):
        batch, demos = unit(random_batch()), unit(random_demos())
        after, metrics = agent.update(state, context(batch, demos=demos, step=jnp.array(2)))
        score = agent.score(after, demos.obs, demos.length, jnp.zeros(2, bool), jnp.zeros(2))
        return after.learner, metrics, agent.policy(after)(batch.obs), score

    plain, other = jax.jit(lambda: run(lambda x: x))(), jax.jit(lambda: run(stretched))()
    assert_close(plain, other, rtol=1e-2, atol=1e-3)
    obs, bare = random_batch().obs, make(kind)
    policy = bare[0].policy(bare[1])
    assert not np.allclose(policy(obs), policy(50 * obs + 7))


def test_a_normalising_policy_acts_alike_in_numpy():
    agent, state = make(normalise="all")
    states, _ = updates(agent, state, 2)
    policy, obs = agent.policy(states[-1]), stretched(random_batch()).obs
    assert_close(jax.device_get(policy)(np.asarray(obs)), policy(obs), atol=1e-5)
