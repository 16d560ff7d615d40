"""The probes reach the values they document, and end as they say."""

import numpy as np
import pytest

from sfm.envs import make


def play(name, policy, seed, discount):
    """Start x, discounted return and (terminated, truncated) of one episode."""
    env = make(name)
    obs = env.reset(seed)
    start, total, weight, end = float(obs[0]), 0.0, 1.0, (False, False)
    while not any(end):
        obs, reward, *end = env.step(np.array([policy(float(obs[0]))]))
        total, weight = total + weight * reward, weight * discount
    return start, total, tuple(end)


@pytest.mark.parametrize("seed", range(5))
def test_point(seed):
    start, total, end = play("probe_point", lambda x: (0.5 - x) / 0.2, seed, 0.9)
    distances = np.maximum(abs(start - 0.5) - 0.2 * np.arange(1, 21), 0)
    assert total == pytest.approx(-np.sum(0.9 ** np.arange(20) * distances**2), abs=1e-6)
    assert end == (False, True)


def test_bandit():
    assert play("probe_bandit", lambda x: 0.3, 0, 0.9)[1:] == (1.0, (True, False))
    assert play("probe_bandit", lambda x: -0.7, 1, 0.9)[1] == pytest.approx(0.0)


@pytest.mark.parametrize("seed", range(5))
def test_chain(seed):
    start, total, end = play("probe_chain", lambda x: 1.0, seed, 0.9)
    assert total == pytest.approx(0.9 ** (4 * (1 - start) - 1))
    assert end == (True, False)
    assert play("probe_chain", lambda x: -1.0, seed, 0.9)[1:] == (0.0, (False, True))


@pytest.mark.parametrize("name", ["probe_point", "probe_bandit", "probe_chain"])
def test_contract(name):
    env = make(name)
    obs = env.reset(7)
    assert (obs.shape, obs.dtype) == ((env.obs_dim,), np.float32)
    np.testing.assert_array_equal(obs, make(name).reset(7))
    frame = env.render(20, 30)
    assert (frame.shape, frame.dtype, frame.max()) == ((20, 30, 3), np.uint8, 255)
    env.close()
