"""Every learner learns on probes, and imitates there: from the first episode to the last evaluation."""

import dataclasses

import jax
import numpy as np
import pytest
from ridge import Ridge, ridge_demos

from sfm.config import (
    Config,
    FeatureConfig,
    RewardConfig,
    ScheduleConfig,
    SFMConfig,
    StochasticConfig,
    TD3Config,
    TD7Config,
)
from sfm.demos import Demos
from sfm.envs import make
from sfm.training.loop import Training
from tests.conftest import trained, walk_to_half

GAMMA = 0.9
RATES = {"lr_actor": 1e-3, "lr_critic": 3e-3}
LEARNERS = {
    "td3": TD3Config(width=32, polyak=0.05, **RATES),
    "td7": TD7Config(width=32, embedding=16, lr_encoder=1e-3, target_interval=50, **RATES),
    "stochastic": StochasticConfig(width=32, polyak=0.05, temperature=0.01, **RATES),
}
SCHEDULE = ScheduleConfig(
    steps=1400,
    envs=2,
    random_steps=400,
    batch=32,
    replay=2000,
    chunk=50,
    assess_after=10_000,
    eval_every=10_000,
    eval_episodes=20,
)


def train(config, env=None, demos=None):
    """A finished run, the rows of its rounds and of its evaluations."""
    training = Training(config, env or (lambda: make(config.task)), demos)
    return training, *trained(training)


def learn(task, kind, learner=None, **schedule):
    config = Config(
        task=task,
        gamma=GAMMA,
        learner=learner or LEARNERS[kind],
        objective=RewardConfig(),
        schedule=dataclasses.replace(SCHEDULE, **schedule),
    )
    return train(config)


def value(training, obs):
    """V of the learned policy at states obs [B, o]."""
    state = jax.tree.map(lambda x: x[0], training.learning.state.learner)
    psi = jax.jit(training.agent.learner.value)(state, np.asarray(obs, np.float32), jax.random.key(0))
    return np.asarray(psi)[:, 0]


# Plain RL on probes.


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_finds_the_point(kind):
    training, _, judged = learn("probe_point", kind)
    best = training.evaluator.returns(0, lambda obs, noise: np.clip((0.5 - obs) / 0.2, -1, 1)).mean()
    assert judged[-1]["eval/current"] > best - 0.4
    assert "likeness/current" not in judged[-1]  # there is no demonstration
    assert training.evaluator.returns(0, lambda obs, noise: 0 * obs).mean() < best - 5  # which is not easy
    distances = np.maximum(1.5 - 0.2 * np.arange(1, 21), 0)
    furthest = -np.sum(GAMMA ** np.arange(20) * distances**2)
    # the lesser twin is learned, of smoothed actions: it may stay somewhat below
    np.testing.assert_allclose(value(training, [[-1.0], [0.5]]), [furthest, 0], atol=1.5)


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_finds_the_value_of_an_action_that_ends_all(kind):
    training, _, judged = learn("probe_bandit", kind, envs=32, steps=1000)
    assert judged[-1]["eval/current"] == pytest.approx(1, abs=0.05)
    states = np.linspace(-1, 1, 9)[:, None]
    np.testing.assert_allclose(value(training, states), 1, atol=0.15)  # and not 1 / (1 - gamma) = 10
    np.testing.assert_allclose(training.policies.current[0](states.astype(np.float32)), 0.3, atol=0.25)


@pytest.mark.parametrize("kind", LEARNERS)
def test_on_a_chain_the_value_falls_with_the_distance_to_the_end(kind):
    learner = LEARNERS[kind]
    if kind == "td7":  # at state 0 it sees only the direction of a bias: it must not settle there too soon
        learner = dataclasses.replace(learner, explore_noise=0.3, pretanh_penalty=0.01)
    training, _, judged = learn("probe_chain", kind, learner, steps=4000)
    assert judged[-1]["eval/current"] == 1
    np.testing.assert_allclose(
        value(training, [[0], [0.25], [0.5], [0.75]]), GAMMA ** np.arange(3, -1, -1), atol=0.1
    )


# Imitation.


class Circle:
    """`probe_point` seen as a point on a circle: phi of a single number would know little but its sign."""

    name, obs_dim, action_dim, max_steps, control_timestep = "circle", 2, 1, 20, 0.1
    low, high, terminates = -np.ones(1), np.ones(1), False

    def __init__(self):
        self.env = make("probe_point")

    def reset(self, seed):
        return on_circle(self.env.reset(seed))

    def step(self, action):
        obs, *rest = self.env.step(action)
        return on_circle(obs), *rest


def on_circle(x):
    return np.concatenate([np.cos(2 * x), np.sin(2 * x)], -1).astype(np.float32)


def to_half(obs, noise):
    """The expert."""
    return np.clip((0.5 - np.arctan2(obs[:, 1:], obs[:, :1]) / 2) / 0.2, -1, 1)


@pytest.fixture(scope="module")
def circle_demos():
    return Demos.from_list([on_circle(walk_to_half(x)) for x in np.linspace(-1, 1, 9)])


@pytest.mark.parametrize(
    ("kind", "method", "match_from"),
    [
        ("td3", "fdm", "start"),
        ("td3", "random", "visits"),
        ("td7", "random", "visits"),
        ("stochastic", "random", "visits"),
    ],
)
def test_every_learner_imitates_states(kind, method, match_from, circle_demos):
    visits = match_from == "visits"  # as in the CPU presets: of late, with the state, by three steps
    features = FeatureConfig(method, dim=16, width=32, depth=2, head_width=32, state_weight=float(visits))
    of_late = {"witness_batch": "independent", "witness_window": 200} if visits else {}
    objective = SFMConfig(features=features, match_from=match_from, **of_late)
    learner = dataclasses.replace(LEARNERS[kind], lr_actor=3e-4 if kind == "td3" else 1e-3)
    steps = 3 if visits else 1
    config = Config(gamma=GAMMA, n_step=steps, learner=learner, objective=objective, schedule=SCHEDULE)
    training, rows, judged = train(config, Circle, circle_demos)
    gaps = [row["gap"] for row in rows if "gap" in row]
    assert visits or np.mean(gaps[-5:]) < 0.3 * gaps[0]  # the gap to visits of late runs in circles
    returns = training.evaluator.returns
    expert, idle = (returns(0, pi).mean() for pi in (to_half, lambda obs, noise: 0 * obs[:, :1]))
    assert judged[-1]["eval/current"] > expert - 4
    assert idle < expert - 8


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_lasts_as_long_as_the_expert(kind):
    features = FeatureConfig(
        "random", dim=16, width=32, depth=2, centre=True, state_weight=1.0, alive_weight=10.0
    )
    objective = SFMConfig(
        features=features,
        match_from="visits",
        witness_batch="independent",
        witness_window=200,
        scale_psi=True,
        unit_witness=True,
    )
    schedule = dataclasses.replace(SCHEDULE, steps=2500)
    parts = {"learner": LEARNERS[kind], "objective": objective, "schedule": schedule}
    config = Config(gamma=GAMMA, n_step=3, normalise="features", **parts)
    training, rows, judged = train(config, Ridge, ridge_demos())
    assert training.evaluator.returns(0, lambda obs, noise: 0 * obs[:, :1]).mean() < 30
    assert judged[-1]["eval/current"] > 36
    assert rows[-1]["share/random"] + rows[-1]["share/state"] == pytest.approx(1.0)
