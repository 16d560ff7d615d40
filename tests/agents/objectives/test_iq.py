"""IQ-Learn's loss by hand, and on an MDP whose solution is known in closed form."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import LEARNERS, SPEC, assert_close, context, random_batch, random_demos, rng, same

from sfm.agents.agent import make_agent
from sfm.agents.learners.base import Critics
from sfm.agents.objectives import make_objective
from sfm.agents.types import Batch, ExpertStates, Spec
from sfm.config import Config, IQConfig

KEY = jax.random.key(0)


def with_actions(demos: ExpertStates) -> ExpertStates:
    """Actions that tell which state they belong to."""
    return demos._replace(action=jnp.tanh(demos.obs[:, :-1, : SPEC.action_dim]))


def test_half_of_the_minibatch_is_the_experts():
    iq, batch, demos = make_objective(IQConfig(), SPEC), random_batch(), with_actions(random_demos())
    blended = iq.blend(context(batch, demos=demos))
    assert_close(jax.tree.map(lambda x: x[:32], blended._replace(expert=None)), batch._replace(expert=None))
    assert blended.expert is not None
    assert blended.expert.tolist() == [0.0] * 32 + [1.0] * 32
    pairs = {
        (obs[t].tobytes(), obs[t + 1].tobytes())
        for obs, n in zip(np.asarray(demos.obs), demos.length, strict=True)
        for t in range(n)
    }
    rows = [np.asarray(x[32:]) for x in (blended.obs, blended.next_obs)]
    assert {(s.tobytes(), t.tobytes()) for s, t in zip(*rows, strict=True)} == pairs  # all 8, and no padding
    assert_close(blended.action[32:], jnp.tanh(blended.obs[32:, : SPEC.action_dim]))
    assert (np.asarray(blended.mask[32:]) == 1).all()


# By hand: two rows, of which the first is terminal and the second the expert's; gamma = 0.5, c = 0.5.

Q, V, V_NEXT, BONUS = np.array([1.0, 3.0]), np.array([2.0, 4.0]), np.array([6.0, 8.0]), 0.25
Y = 0.5 * np.array([0.0, 1.0]) * (V_NEXT + BONUS)
RHO = Q - Y  # 1, -1.125
EARNED, SQUARES = np.mean(V + BONUS - Y), np.mean(RHO**2) / 2


def table(following: np.ndarray, critics: int):
    """A critic that knows s (0) from s' (1) and the batch's action (0) from pi's (1); its twin adds 10."""

    def psi(obs, action):
        values = jnp.where(obs[:, 0] > 0, following, jnp.where(action[:, 0] > 0, V, Q))
        return jnp.stack([values, values + 10.0])[:critics, :, None]

    return psi


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 1.125 + EARNED + SQUARES),
        ({"value_term": "value_expert"}, 1.125 + (4.25 - 4.125) + SQUARES),
        ({"value_term": "v0"}, 1.125 + 0.5 * 4.25 + SQUARES),
        ({"chi_over": "expert"}, 1.125 + EARNED + 1.125**2 / 2),
        ({"chi": 2.0}, 1.125 + EARNED + SQUARES / 4),
        # y of the expert's row is 50 higher
        ({"bootstrap": "online"}, 51.125 + EARNED - 25 + (1 + 51.125**2) / 4),
        # both twins learn, the second from a rho that is 10 higher
        ({"twins": "min"}, 1.125 - 5 + EARNED + np.mean([RHO**2, (RHO + 10) ** 2]) / 2),
    ],
)
def test_the_loss_by_hand(changes, expected):
    zero, ones = jnp.zeros((2, 1)), jnp.ones((2, 1))
    second = jnp.array([0.0, 1.0])
    batch = Batch(zero, zero, ones, zero[:, 0], mask=second, goal=ones, expert=second)
    pi = lambda obs: (jnp.ones_like(obs), jnp.full(2, BONUS))  # noqa: E731
    iq = make_objective(IQConfig(**changes), Spec(1, 1, 0.5))
    online, target = table(V_NEXT + 100, iq.critics), table(V_NEXT, iq.critics)
    loss, _ = iq.critic_loss((), Critics(online, target, pi, lambda twins: zero), batch, zero)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


# Two states; action a leads to state a. Under the discount 1/2 and the start (3/4, 1/4), the expert's and
# the replay's discounted visits are whole numbers of eightieths, so that a minibatch holds them exactly.

GAMMA, START, TEMPERATURE = 0.5, np.array([0.75, 0.25]), 0.3
EXPERT = np.array([[12, 36], [24, 8]]) / 80  # pi(1|0) = 3/4, pi(1|1) = 1/4
REPLAY = np.array([[25, 25], [15, 15]]) / 80  # pi = 1/2


def visits(policy: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(1 - gamma) sum_t gamma^t P(s_t, a_t), [s, a]."""
    states = np.linalg.solve(np.eye(2) - GAMMA * policy.T, (1 - GAMMA) * start)
    return states[:, None] * policy


def rows(counts: np.ndarray, expert: float) -> Batch:
    """One-hot transitions, each as often as it is visited."""
    s, a = (
        np.repeat(index.ravel(), np.rint(80 * counts).astype(int).ravel()) for index in np.indices((2, 2))
    )
    states, zero = jnp.eye(2), jnp.zeros(80)
    return Batch(states[s], states[a], states[a], zero, zero + 1, states[a], zero + expert)


def soft_policy(q: Any) -> Any:
    return jax.nn.softmax(q / TEMPERATURE, axis=-1)


def solve(replay: np.ndarray = REPLAY, steps: int = 3_000, **changes: Any) -> np.ndarray:
    """The tabular Q [s, a] at which the loss of IQ-Learn does not change, with its policy always optimal."""
    iq = make_objective(IQConfig(**changes), Spec(2, 2, GAMMA))
    batch = jax.tree.map(lambda *x: jnp.concatenate(x), rows(replay, 0.0), rows(EXPERT, 1.0))

    def loss(q: jax.Array, fixed: jax.Array) -> jax.Array:
        policy = soft_policy(fixed)
        entropy = -(policy * jnp.log(policy)).sum(-1)

        def psi(table):  # of a distribution over actions, its mean: expectations are exact
            return lambda obs, action: jnp.stack([((obs @ table) * action).sum(-1, keepdims=True)] * 2)

        pi = lambda obs: (obs @ policy, TEMPERATURE * obs @ entropy)  # noqa: E731
        critics = Critics(psi(q), psi(fixed), pi, lambda twins: jnp.zeros((160, 1)))
        return iq.critic_loss((), critics, batch, jnp.zeros((160, 1)))[0]

    def step(q, _):
        return q - 0.5 * jax.grad(loss)(q, jax.lax.stop_gradient(q)), None

    q, _ = jax.jit(lambda q: jax.lax.scan(step, q, None, steps))(jnp.zeros((2, 2)))
    return np.asarray(q)


def implied(q: np.ndarray) -> np.ndarray:
    """r(s, a) = Q(s, a) - gamma V(a), with the soft V."""
    return q - GAMMA * TEMPERATURE * np.log(np.exp(q / TEMPERATURE).sum(-1))


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize(
    ("value_term", "start"), [("value", START), ("value_expert", START), ("v0", EXPERT.sum(1))]
)
@pytest.mark.parametrize("chi_over", ["all", "expert"])
def test_the_recovered_reward_is_the_difference_of_visits(value_term, start, chi_over):
    """The published objective is, with r for Q, -E_expert r + E_pi r + H(pi) + E_mu r^2 / (4c) at the best pi
    for r. Its derivative by r(s, a) vanishes where r = 2 c (expert's visits - pi's visits) / mu, and Q is
    the optimal soft Q of this r."""
    q = solve(value_term=value_term, chi_over=chi_over, bootstrap="online")
    mu = EXPERT if chi_over == "expert" else (EXPERT + REPLAY) / 2
    reward = 2 * 0.5 * (EXPERT - visits(np.asarray(soft_policy(q)), start)) / mu
    np.testing.assert_allclose(implied(q), reward, atol=1e-6)
    optimal = np.zeros((2, 2))
    for _ in range(100):  # soft value iteration
        optimal = reward + GAMMA * TEMPERATURE * np.log(np.exp(optimal / TEMPERATURE).sum(-1))
    np.testing.assert_allclose(q, optimal, atol=1e-6)
    assert np.abs(reward).max() > 0.05


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("bootstrap", ["online", "target"])
def test_with_little_regularisation_the_policy_is_the_experts(bootstrap):
    """With a target network, whose error is not differentiated, once replay visits what the expert visits."""
    replay = REPLAY if bootstrap == "online" else EXPERT
    policies = [np.asarray(soft_policy(solve(replay, bootstrap=bootstrap, chi=chi))) for chi in (0.2, 1, 50)]
    expert = EXPERT / EXPERT.sum(1, keepdims=True)
    errors = [np.abs(policy - expert).max() for policy in policies]
    assert errors[0] > errors[1] > 0.01 > errors[2]


@pytest.mark.usefixtures("double")
def test_with_a_target_network_the_loss_compares_actions_where_the_data_is():
    """Stationary: r = 2 c (expert's visits - pi(a|s) mu(s)) / mu(s, a)."""
    q, mu = solve(), (EXPERT + REPLAY) / 2
    reward = (EXPERT - mu.sum(1, keepdims=True) * np.asarray(soft_policy(q))) / mu
    np.testing.assert_allclose(implied(q), reward, atol=1e-6)


# With learners.


@pytest.mark.parametrize(("kind", "twins"), [*((kind, "first") for kind in LEARNERS), ("stochastic", "min")])
def test_every_learner_takes_it(kind, twins):
    learner = dataclasses.replace(LEARNERS[kind], actor_delay=1)
    config = Config(gamma=SPEC.gamma, learner=learner, objective=IQConfig(twins=twins))
    agent, demos = make_agent(config, SPEC.obs_dim, SPEC.action_dim), with_actions(random_demos())
    state = agent.init(rng())
    after, metrics = jax.jit(agent.update)(state, context(demos=demos))
    assert np.isfinite(float(metrics["critic_loss"]))
    assert not same(state.learner.actor.net, after.learner.actor.net)
    critics = {len(x) for x in jax.tree.leaves(after.learner.critic.net)}
    assert critics == {1 if twins == "first" else 2}
    for i in range(*critics):
        assert not same(*(jax.tree.map(lambda x, i=i: x[i], s.learner.critic.net) for s in (state, after)))


def test_the_entropy_bonus_is_the_temperature_times_surprise():
    """V of a stochastic policy has the bonus that its actor's loss has."""
    from sfm.agents.learners import make_learner

    learner = make_learner(dataclasses.replace(LEARNERS["stochastic"], temperature=0.7), SPEC)
    state, batch, seen = learner.init(rng(), 1), random_batch(), []

    def loss(critics):
        seen.append((critics.pi(batch.obs), critics.target(batch.obs, batch.action)))
        return critics.psi(batch.obs, batch.action).sum(), jnp.zeros((32, 1))

    learner.critic_step(state, batch, loss, KEY)
    (action, bonus), target = seen[0]
    again, log_prob = learner.sample(state.actor.net, batch.obs, jax.random.split(KEY)[1])  # pyright: ignore
    assert_close(action, again)
    assert_close(bonus, -0.7 * log_prob)
    assert_close(target, jax.vmap(lambda net: net(batch.obs, batch.action))(state.target_critic))
