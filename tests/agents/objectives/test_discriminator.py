"""Moment matching and GAIfO: the reward, when the cost is refreshed, at which rate, what comes of it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, assert_close, context, random_batch, random_demos, rng, same

from sfm.agents.agent import make_agent
from sfm.agents.objectives.discriminator import Discriminator
from sfm.agents.types import ExpertStates
from sfm.config import Config, CostConfig, DiscriminatorConfig, ScheduleConfig, TD3Config
from sfm.envs import make
from sfm.presets import PRESETS
from sfm.training.loop import Training
from tests.conftest import tiny

KEY = jax.random.key(0)


def small(sees="state", **changes) -> DiscriminatorConfig:
    cost = CostConfig(width=16, **{"lr_final": None} | changes.pop("cost", {}))
    return DiscriminatorConfig(sees=sees, cost=cost, **{"refresh_batch": 32} | changes)


def made(sees="state", **changes):
    """The objective and its first state."""
    objective = Discriminator(small(sees, **changes), SPEC)
    return objective, objective.init(rng())


@pytest.mark.parametrize("sees", ["state", "pair"])
def test_the_cumulant_is_minus_the_cost_of_what_it_sees(sees):
    objective, f = made(sees)
    batch = random_batch()
    after, cumulant, metrics = objective.update(f, context(batch))
    seen = [batch.obs] if sees == "state" else [batch.obs, batch.next_obs]
    expected = -jax.device_get(f.net)(np.concatenate(seen, axis=-1))
    assert_close(cumulant, expected)
    assert cumulant.shape == (32, 1)
    assert float(metrics["reward"]) == pytest.approx(expected.mean(), rel=1e-4)
    assert after is f  # updates leave the cost alone


@pytest.mark.parametrize("sees", ["state", "pair"])
def test_the_score_is_the_mean_reward_of_the_episode(sees):
    objective, f = made(sees)
    (obs, length, _) = random_demos((5, 3), padding=1e6)
    scores = objective.score(f, obs, length, np.zeros(2, bool), np.zeros(2))
    for score, states, n in zip(scores, obs, length, strict=True):
        assert float(score) == pytest.approx(float(objective.reward(f, states[:n], states[1 : n + 1]).mean()))


def test_a_refresh_lowers_the_cost_of_the_expert_against_the_policy():
    objective, f = made("pair", cost={"lr": 3e-3}, refresh_updates=60)
    demos, episodes = random_demos((9, 7)), random_demos((8, 8))
    episodes = episodes._replace(obs=episodes.obs + 1.0)

    def gap(f):
        scores = [objective.score(f, e.obs, e.length, None, None).mean() for e in (demos, episodes)]  # pyright: ignore
        return float(scores[0] - scores[1])

    after, metrics = jax.jit(objective.refresh)(f, episodes.obs, episodes.length, demos, KEY)
    assert gap(after) > gap(f) + 0.3
    assert metrics.keys() == {"cost_loss", "cost_gap", "cost_penalty"}
    assert after.opt[0].count == 60


def test_a_cost_on_pairs_tells_a_way_from_the_way_back():
    """Both visit the same states, so that only the order of s and s' sets them apart."""
    objective, f = made("pair", cost={"lr": 3e-3}, refresh_updates=80)
    way = jnp.linspace(-2, 2, 9)[None, :, None] * jnp.ones(SPEC.obs_dim)
    there, back, length = way, way[:, ::-1], jnp.array([8])
    refresh = jax.jit(lambda f, obs, demos: objective.refresh(f, obs, length, demos, KEY)[0])
    for agent, expert in ((back, there), (there, back)):
        after = refresh(f, agent, ExpertStates(expert, length))
        good, bad = (objective.score(after, obs, length, None, None) for obs in (expert, agent))  # pyright: ignore
        assert float(good[0] - bad[0]) > 0.3


# Through the loop.


def rate(before, after) -> float:
    """The learning rate of one step of Adam, from the state that it left behind."""
    adam = jax.device_get(after.opt[0])
    n = float(adam.count[0])
    old, new = (np.concatenate([np.ravel(x) for x in jax.tree.leaves(t.net)]) for t in (before, after))
    step = adam.mu[0] / (1 - 0.9**n) / (np.sqrt(adam.nu[0] / (1 - 0.999**n)) + 1e-8)
    moving = np.abs(step) > 0.1
    return float(np.median((old - new)[moving] / step[moving]))


@pytest.mark.parametrize("counted", [False, True])
def test_the_schedule_of_the_cost(counted, point_demos):
    """Rounds of 40 steps, a refresh every 100 of them, on an episode of 20; the rate falls over three."""
    cost = {"lr": 1e-2, "lr_final": 1e-3, "decay_updates": 3}
    objective = small(cost=cost, refresh_every=100, refresh_episodes=1, refresh_counted=counted)
    training = Training(tiny(objective=objective, steps=320), lambda: make("probe_point"), point_demos)
    steps, rates = [], []
    before = jax.device_get(training.learning.state.objective)
    for row in (row for rows in training.rounds() for row in rows if "episodes" in row):
        after = jax.device_get(training.learning.state.objective)
        assert same(before.net, after.net) == ("refresh/cost_gap" not in row)
        if "refresh/cost_gap" in row:
            steps.append(row["step"])
            rates.append(rate(before, after))
        before = after
    np.testing.assert_allclose(rates, [1e-2, 7e-3, 4e-3, 1e-3], rtol=1e-2)
    assert steps == ([60, 120, 220, 320] if counted else [40, 120, 200, 320])
    assert training.progress[0].refreshes == 4


@pytest.mark.parametrize("name", ["mm-td3", "mm-td7", "gaifo-td3", "gaifo-td7"])
def test_the_rate_of_a_preset_falls_over_its_whole_run(name):
    for config in (PRESETS[name], PRESETS[f"{name}-cpu"]):
        assert rates_of_the_cost(config) == pytest.approx([8e-4, 4e-4, 1e-7], rel=1e-2, abs=1e-6)
        schedule = dataclasses.replace(config.schedule, steps=20_000)
        shorter = dataclasses.replace(config, schedule=schedule)
        assert rates_of_the_cost(shorter) == pytest.approx([8e-4, 4e-4, 1e-7], rel=1e-2, abs=1e-6)


def rates_of_the_cost(config: Config) -> list[float]:
    """At its first step, in the middle of the run and after its last step."""
    objective = config.objective
    assert isinstance(objective, DiscriminatorConfig)
    steps = config.schedule.steps // objective.refresh_every * objective.refresh_updates
    cost = make_agent(config, 2, 1).init(rng()).objective
    slope = jax.tree.map(np.ones_like, cost.net)  # Adam goes as far as its rate where the slope is constant

    def step(cost, _):
        after = cost.moved(slope)
        return after, jax.tree.leaves(cost.net)[0].ravel()[0] - jax.tree.leaves(after.net)[0].ravel()[0]

    went = jax.lax.scan(step, cost, length=steps + 1)[1]
    return [float(went[i]) for i in (0, steps // 2, steps)]


def trained(learner: TD3Config):
    """The learner's state before and after 20 updates on one minibatch."""
    config = Config(learner=dataclasses.replace(learner, width=16), objective=small())
    agent, batch = make_agent(config, SPEC.obs_dim, SPEC.action_dim), random_batch()
    start = agent.init(rng())

    @jax.jit
    def run(state):
        def body(state, step):
            return agent.update(state, context(batch, step=step, key=jax.random.fold_in(KEY, step)))

        return jax.lax.scan(body, state, np.arange(1, 21))[0]

    return start.learner, run(start).learner


def test_the_target_actor_moves():
    learner = PRESETS["mm-td3"].learner
    assert isinstance(learner, TD3Config)
    start, after = trained(learner)
    assert not same(start.target_actor, after.target_actor)


@pytest.mark.parametrize("sees", ["state", "pair"])
def test_it_imitates(sees, point_demos):
    cost = {"lr": 3e-3, "lr_final": 3e-4, "decay_updates": 300}
    refresh = {"refresh_every": 40, "refresh_episodes": 2, "refresh_updates": 10, "refresh_counted": False}
    config = Config(
        seed=3,
        gamma=0.9,
        learner=TD3Config(width=32, target_actor="polyak", polyak=0.05, lr_actor=1e-3, lr_critic=3e-3),
        objective=small(sees, cost=cost, **refresh),
        schedule=ScheduleConfig(
            steps=1400, envs=2, random_steps=200, batch=32, replay=2000, chunk=50, eval_episodes=20
        ),
    )
    training = Training(config, lambda: make("probe_point"), point_demos)
    rows = [row for rows in training.rounds() for row in rows]
    best = training.evaluator.returns(0, lambda obs, noise: np.clip((0.5 - obs) / 0.2, -1, 1)).mean()
    idle = training.evaluator.returns(0, lambda obs, noise: 0 * obs).mean()
    assert idle < best - 8
    assert rows[-1]["eval/current"] > best - 5  # it may go to and fro around the goal in full steps
