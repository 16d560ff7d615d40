"""The loop on probes: learners learn, ends are respected, seeds do not meet, and a saved run goes on."""

import dataclasses
import json

import jax
import numpy as np
import pytest

from sfm.config import Config, RewardConfig, ScheduleConfig, StochasticConfig, TD3Config, TD7Config
from sfm.demos import Demos
from sfm.envs import make
from sfm.training.loop import Diverged, Training
from tests.conftest import tiny, walk_to_half

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
    batch=64,
    replay=2000,
    chunk=50,
    assess_after=10_000,
    eval_every=10_000,
    eval_episodes=20,
)


def train(config, env=None, demos=None):
    """A finished run and its rows."""
    training = Training(config, env or (lambda: make(config.task)), demos)
    return training, [row for rows in training.rounds() for row in rows]


def learn(task, kind, **schedule):
    config = Config(
        task=task,
        gamma=GAMMA,
        learner=LEARNERS[kind],
        objective=RewardConfig(),
        schedule=dataclasses.replace(SCHEDULE, **schedule),
    )
    return train(config)


def value(training, obs):
    """V of the learned policy at states obs [B, o]."""
    state = jax.tree.map(lambda x: x[0], training.state.learner)
    psi = jax.jit(training.agent.learner.value)(state, np.asarray(obs, np.float32), jax.random.key(0))
    return np.asarray(psi)[:, 0]


# Plain RL on probes.


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_finds_the_point(kind):
    training, rows = learn("probe_point", kind)
    best = training.evaluate(0, lambda obs, noise: np.clip((0.5 - obs) / 0.2, -1, 1)).mean()
    assert rows[-1]["eval/current"] > best - 0.4
    assert training.evaluate(0, lambda obs, noise: 0 * obs).mean() < best - 5  # that is not easy
    assert value(training, [[0.5]])[0] == pytest.approx(0, abs=0.4)


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_learner_finds_the_value_of_an_action_that_ends_all(kind):
    training, rows = learn("probe_bandit", kind, envs=32, steps=1100)
    assert rows[-1]["eval/current"] == pytest.approx(1, abs=0.05)
    states = np.linspace(-1, 1, 9)[:, None]
    np.testing.assert_allclose(value(training, states), 1, atol=0.15)  # and not 1 / (1 - gamma) = 10
    np.testing.assert_allclose(training.current[0](states.astype(np.float32)), 0.3, atol=0.25)


@pytest.mark.parametrize("kind", ["td3", "stochastic"])
def test_on_a_chain_the_value_falls_with_the_distance_to_the_end(kind):
    training, rows = learn("probe_chain", kind)
    assert rows[-1]["eval/current"] == 1
    np.testing.assert_allclose(value(training, [[0], [0.25], [0.5], [0.75]]), GAMMA ** np.arange(3, -1, -1), atol=0.1)
