"""OPOLO: its losses by hand, what the actor's gradient is made of, and when its networks learn."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, assert_close, context, descending, minus, random_batch, random_demos, rng

from sfm.agents.learners import make_learner
from sfm.agents.learners.base import Critics
from sfm.agents.nets import MLP, all_twins, stacked
from sfm.agents.objectives.opolo import OPOLO, OPOLOState
from sfm.config import Config, CostConfig, InverseConfig, OPOLOConfig, ScheduleConfig, TD3Config
from sfm.envs import make
from sfm.presets import PRESETS
from sfm.training.loop import Training
from tests.conftest import equal, trained

KEY = jax.random.key(0)
PULL = 2 * 0.1 * (1 - SPEC.gamma)


def small(**changes) -> OPOLOConfig:
    cost = dataclasses.replace(OPOLOConfig().cost, width=16, **changes.pop("cost", {}))
    return OPOLOConfig(cost=cost, inverse=InverseConfig(width=16), **changes)


def made(**changes) -> tuple[OPOLO, OPOLOState]:
    objective = OPOLO(small(**changes), SPEC)
    return objective, objective.init(rng())


def test_the_critics_loss_by_hand():
    """Q_1 = a + 1 and Q_2 = 2 a; the replay's action is 1, the policy's 0; y = 4."""
    objective, o = made()
    critics = Critics(
        psi=lambda obs, action: jnp.stack([action + 1, 2 * action]),
        target=None,  # pyright: ignore
        pi=lambda obs: (jnp.zeros((2, 1)), jnp.zeros(2)),
        bootstrap=lambda twins: {"min": jnp.full((2, 1), 3.0)}[twins],
    )
    batch = random_batch(count=2)._replace(action=jnp.ones((2, 1)))
    loss, y = objective.critic_loss(o, critics, batch, jnp.ones((2, 1)))
    assert y.tolist() == [[4.0], [4.0]]
    assert float(loss) == pytest.approx(0.5 * (2**2 + 2**2) + PULL * 0.0)
    critics = critics._replace(pi=lambda obs: (jnp.full((2, 1), 3.0), jnp.zeros(2)))  # min(4, 6)
    assert float(objective.critic_loss(o, critics, batch, jnp.ones((2, 1)))[0]) == pytest.approx(4 + PULL * 4)


def test_the_reward_is_minus_the_log_of_the_odds_against_the_expert():
    objective, o = made()
    batch = random_batch()
    o = o._replace(cost=jax.tree.map(lambda x: 20 * x, o.cost))  # certain, both ways
    reward = np.asarray(objective.reward(o, batch.obs, batch.next_obs))
    logit = -jax.device_get(o.cost.net)(np.concatenate([batch.obs, batch.next_obs], -1)).astype(np.float64)
    expected = -np.log(np.clip(1 - 1 / (1 + np.exp(-logit)), 1e-4, 1 - 1e-8))
    np.testing.assert_allclose(reward, expected, rtol=1e-4, atol=1e-6)
    assert reward.min() < 1e-3
    assert reward.max() == pytest.approx(-np.log(1e-4), rel=1e-5)


def test_the_score_is_the_mean_reward_of_the_episode():
    objective, o = made()
    (obs, length, _) = random_demos((5, 3), padding=9.0)
    scores = objective.score(o, obs, length, np.zeros(2, bool), np.zeros(2))
    for score, states, n in zip(scores, obs, length, strict=True):
        assert float(score) == pytest.approx(float(objective.reward(o, states[:n], states[1 : n + 1]).mean()))


LEARNER = TD3Config(width=16, target_noise=0.0, actor_twin="min")


def critic_loss(config: OPOLOConfig, batch):
    """The critic's loss as a function of the actor, and the actor."""
    learner = make_learner(LEARNER, SPEC)
    state = learner.init(rng(), 1)
    objective = OPOLO(config, SPEC)

    def loss(actor: MLP):
        s = state._replace(actor=dataclasses.replace(state.actor, net=actor))
        hook = functools.partial(objective.critic_loss, None, batch=batch, cumulant=jnp.ones((32, 1)))  # pyright: ignore
        _, metrics = learner.critic_step(s, batch, hook, KEY)
        return metrics["critic_loss"]

    return jax.jit(jax.value_and_grad(loss))(state.actor.net)


def test_the_squared_error_has_no_gradient_in_the_actor():
    value, squared = critic_loss(small(alpha=0.0), random_batch())  # the squared error alone
    assert value > 0.1
    assert all(not np.any(g) for g in jax.tree.leaves(squared))
    _, whole = critic_loss(small(alpha=0.1), random_batch())
    assert any(np.any(g) for g in jax.tree.leaves(whole))  # the other term has


def test_the_actor_ascends_the_lower_twin_and_clones_inferred_actions():
    objective, o = made(clone=0.3)
    batch, demos = random_batch(), random_demos()
    learner = make_learner(LEARNER, SPEC)
    state = learner.init(rng(), 1)
    state = state._replace(actor=descending(state.actor))
    now = context(batch, demos=demos)
    penalty = objective.penalty(o, now)
    psi, climb = learner.actor_step(state, batch, penalty, KEY)
    after, _ = climb(objective.weight(o, psi, None, now)[0])  # pyright: ignore

    seen = []
    penalty(lambda obs: seen.append(obs) or jnp.zeros((32, 2)))
    rows = np.concatenate([states[:n] for states, n in zip(demos.obs, demos.length, strict=True)])
    following = np.concatenate([states[1 : n + 1] for states, n in zip(demos.obs, demos.length, strict=True)])
    where = [int(np.flatnonzero((rows == obs).all(-1))[0]) for obs in np.asarray(seen[0])]
    assert len(set(where)) > 4  # all over the demonstrations
    _, action = o.inverse(rows[where], following[where], SPEC)

    def loss(net: MLP):
        q = all_twins(state.critic.net, batch.obs, jnp.tanh(net(batch.obs))).min(0)
        clone = jnp.square(jnp.tanh(net(rows[where])) - action)
        return -PULL * q.mean() + 0.3 * clone.sum() / (32 * SPEC.action_dim)

    assert_close(minus(state.actor.net, after.actor.net), jax.grad(loss)(state.actor.net))


def changes(first: int, seeds: int = 1):
    """After which of 12 updates cost and inverse model differ; seed i starts with 3 i updates behind it."""
    objective = OPOLO(small(cost_interval=4, inverse_interval=3, inverse_first=first), SPEC)
    o = stacked([objective.init(np.random.default_rng(i)) for i in range(seeds)])
    o = o._replace(updates=3 * jnp.arange(seeds))
    update = jax.jit(jax.vmap(lambda o, step: objective.update(o, context(step=step))[0], (0, None)))
    moved: dict[str, list] = {"cost": [], "inverse": []}
    for step in range(1, 13):
        after = update(o, jnp.array(step))
        for part in moved:
            pair = [jax.tree.leaves(getattr(s, part))[0] for s in (o, after)]
            moved[part].append([not np.array_equal(a, b) for a, b in zip(*pair, strict=True)])
        o = after
    return {
        part: [(1 + np.flatnonzero(seed)).tolist() for seed in np.array(m).T] for part, m in moved.items()
    }


def test_cost_and_inverse_model_learn_now_and_then():
    assert changes(first=0) == {"cost": [[4, 8, 12]], "inverse": [[3, 6, 9, 12]]}


def test_the_cost_learns_from_visits_and_rewards_the_whole_batch():
    """What began in a demonstrated state is no evidence of where the policy goes."""
    objective, o = made(cost_interval=1)
    update = jax.jit(lambda now: objective.update(o, now))
    batch, other = random_batch(1), random_batch(2)
    after, reward, _ = update(context(batch, recent=other))
    same, _, _ = update(context(other, recent=other))
    different, _, _ = update(context(batch, recent=batch))
    assert equal(after.cost, same.cost)
    assert not equal(after.cost, different.cost)
    assert objective.uses_recent
    np.testing.assert_allclose(reward, objective.reward(o, batch.obs, batch.next_obs), rtol=1e-5)


def test_the_inverse_model_learns_at_every_update_at_first():
    assert changes(first=5, seeds=2) == {
        "cost": 2 * [[4, 8, 12]],
        "inverse": [[1, 2, 3, 4, 5, 6, 9, 12], [1, 2, 3, 6, 9, 12]],
    }


def test_the_target_of_the_preset_is_that_of_the_authors():
    """The online actor without noise, and the lower of the twins."""
    learner = PRESETS["opolo-td3"].learner
    assert isinstance(learner, TD3Config)
    assert (learner.target_actor, learner.target_noise, learner.actor_twin) == ("online", 0.0, "min")


@pytest.mark.parametrize("clone", [0.1, 0.0])
def test_it_imitates(clone, point_demos):
    """With the authors' weight cloning leads; without it the critic does."""
    config = Config(
        seed=3,
        gamma=0.9,
        learner=TD3Config(
            width=32, polyak=0.05, target_noise=0.0, actor_twin="min", lr_actor=1e-3, lr_critic=3e-3
        ),
        objective=OPOLOConfig(
            cost=CostConfig(width=32, loss="js", penalty_norm=1.0, lr=3e-3, lr_final=None),
            inverse=InverseConfig(width=32, lr=3e-3, decay=0.0),
            cost_interval=5,
            inverse_first=200,
            clone=clone,
        ),
        schedule=ScheduleConfig(
            steps=1400, envs=2, random_steps=200, batch=32, replay=2000, chunk=50, eval_episodes=20
        ),
    )
    training = Training(config, lambda: make("probe_point"), point_demos)
    rows, judged = trained(training)
    best = training.evaluator.returns(0, lambda obs, noise: np.clip((0.5 - obs) / 0.2, -1, 1)).mean()
    assert training.evaluator.returns(0, lambda obs, noise: 0 * obs).mean() < best - 5
    assert judged[-1]["eval/current"] > best - 1
    assert rows[-1]["inverse_loss"] < 0.1  # of 1/3
