"""Cloning: whose states and actions it sees, what it leaves alone, and that it finds a simple expert."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import LEARNERS, SPEC, assert_close, context, random_batch, random_demos, rng, same

from sfm.agents.agent import make_agent
from sfm.agents.objectives import make_objective
from sfm.agents.objectives.cloning import BC
from sfm.agents.types import ExpertStates
from sfm.config import BCConfig, BCOConfig, Config, InverseConfig
from sfm.envs import make
from sfm.training.loop import Training
from tests.conftest import tiny, trained

KEY = jax.random.key(0)


def linear_expert(count: int = 4, steps: int = 60) -> ExpertStates:
    """a = K s on random states in [-1, 1]^4."""
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1, 1, (count, steps + 1, SPEC.obs_dim)).astype(np.float32)
    return ExpertStates(jnp.asarray(obs), jnp.full(count, steps), linear(jnp.asarray(obs[:, :-1])))


def linear(obs: jax.Array) -> jax.Array:
    return obs @ jnp.array([[0.4, -0.2], [0.1, 0.3], [-0.3, 0.1], [0.0, 0.2]])


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learners_actor_clones_a_linear_expert(kind):
    learner = dataclasses.replace(LEARNERS[kind], actor_delay=1, lr_actor=3e-3)
    config = Config(gamma=SPEC.gamma, learner=learner, objective=BCConfig())
    agent, demos = make_agent(config, SPEC.obs_dim, SPEC.action_dim), linear_expert()
    start = agent.init(rng())
    replay = random_batch()  # is not looked at

    @jax.jit
    def learned(state):
        def step(state, step):
            now = context(replay, demos=demos, step=step, key=jax.random.fold_in(KEY, step))
            return agent.update(state, now)

        return jax.lax.scan(step, state, jnp.arange(1, 751))

    state, metrics = learned(start)
    new = jax.random.uniform(KEY, (200, SPEC.obs_dim), minval=-1, maxval=1)
    errors = [float(jnp.square(agent.policy(s)(new) - linear(new)).mean()) for s in (start, state)]
    assert errors[0] > 0.05
    assert errors[1] < 3e-3
    assert same(start.learner.critic.net, state.learner.critic.net)  # there is nothing for it to learn
    assert float(metrics["actor_loss"][-50:].mean()) < 3e-3


def test_the_loss_is_the_mean_over_batch_and_dimensions():
    batch = random_batch()._replace(obs=jnp.zeros((2, 1)), action=jnp.array([[1.0, 0.0], [0.5, -1.0]]))
    penalty = make_objective(BCConfig(), SPEC).penalty((), context(batch))
    assert penalty is not None
    assert float(penalty(lambda obs: obs + jnp.array([0.5, 0.0]))) == pytest.approx((0.25 + 1) / 4)


def test_what_is_held_out_is_validated_and_never_learned():
    """The last quarter of each demonstration: times 3 of four and 6, 7 of eight."""
    t = np.arange(9, dtype=np.float32)
    obs = jnp.asarray(np.stack([np.minimum(t, 4), 10 + t])[..., None])
    demos = ExpertStates(obs, jnp.array([4, 8]), jnp.zeros((2, 8, 1)))
    bc = make_objective(BCConfig(validation=0.25), SPEC)
    drawn = bc.blend(context(random_batch(0, 200), demos=demos))
    assert set(np.asarray(drawn.obs).ravel().tolist()) == {0, 1, 2, *range(10, 16)}
    assert float(bc.validate(lambda obs: obs, demos)) == pytest.approx((3**2 + 16**2 + 17**2) / 3)


def test_a_demonstration_of_one_step_is_learned():
    demos = ExpertStates(jnp.zeros((1, 2, 1)), jnp.array([1]), jnp.ones((1, 1, 1)))
    bc = make_objective(BCConfig(validation=0.5), SPEC)
    assert np.asarray(bc.blend(context(demos=demos)).action).min() == 1
    assert float(bc.validate(lambda obs: obs, demos)) == 0


# From observation.


def test_the_actions_to_clone_are_inferred_and_in_range():
    bco = make_objective(BCOConfig(), SPEC)
    o, demos = bco.init(rng()), random_demos()
    wild = o._replace(trained=jax.tree.map(lambda x: 10 * x, o.trained))  # far beyond [-1, 1]
    seen = []
    penalty = bco.penalty(wild, context(demos=demos))
    assert penalty is not None
    penalty(lambda obs: seen.append(obs) or jnp.zeros((32, SPEC.action_dim)))
    states = {
        s.tobytes() for obs, n in zip(np.asarray(demos.obs), demos.length, strict=True) for s in obs[:n]
    }
    assert {s.tobytes() for s in np.asarray(seen[0])} == states
    assert float(penalty(lambda obs: jnp.zeros((32, SPEC.action_dim)))) <= 1


def test_it_learns_the_inverse_model_from_replay_alone():
    config = Config(gamma=SPEC.gamma, objective=BCOConfig(), learner=LEARNERS["td3"])
    agent = make_agent(config, SPEC.obs_dim, SPEC.action_dim)
    state, batch = agent.init(rng()), random_batch()
    expected, error = state.objective.fit(InverseConfig(), batch, SPEC)
    after, metrics = agent.update(state, context(batch))
    assert_close(after.objective.trained.net, expected.trained.net)
    assert float(metrics["inverse_loss"]) == pytest.approx(float(error))


def test_cloning_from_observation_finds_the_point(point_demos):
    assert point_demos.action is None
    learner = dataclasses.replace(LEARNERS["td3"], width=32, actor_delay=1, lr_actor=3e-3)
    objective = BCOConfig(InverseConfig(width=32, lr=3e-3, decay=0.0))
    config = tiny(
        learner=learner,
        objective=objective,
        steps=1000,
        assess_after=1000,
        random_steps=400,
        batch=32,
        chunk=50,
        eval_episodes=20,
    )
    training = Training(config, lambda: make("probe_point"), point_demos)
    rows, judged = trained(training)
    best = training.evaluator.returns(0, lambda obs, noise: np.clip((0.5 - obs) / 0.2, -1, 1)).mean()
    assert rows[-1]["inverse_loss"] < 0.01
    assert judged[-1]["eval/current"] > best - 0.4


def test_cloning_is_offline_and_from_observation_it_is_not():
    assert make_objective(BCConfig(patience=7, validation=0.1), SPEC).offline == (True, 7)
    assert make_objective(BCConfig(), SPEC).offline == (False, 0)
    assert make_objective(BCOConfig(), SPEC).offline is None
    agent = make_agent(Config(), SPEC.obs_dim, SPEC.action_dim)
    assert isinstance(agent.cloner().objective, BC)
    assert agent.cloner().learner is agent.learner
