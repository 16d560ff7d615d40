"""Returns of a policy: of the right episodes, in the world that is asked for."""

import numpy as np
import pytest

import sfm
from sfm.evaluation.evaluate import evaluate, random_policy


def to_half(obs):
    """The optimal policy of `probe_point`, as users write one."""
    return np.clip((0.5 - obs) / 0.2, -1, 1)


def test_a_name_and_an_environment_give_the_same_returns():
    env = sfm.make_env("probe_point")
    returns = sfm.evaluate(to_half, "probe_point", 5, seed=3)
    assert (returns.shape, returns.dtype) == ((5,), np.float64)
    np.testing.assert_array_equal(sfm.evaluate(to_half, env, 5, seed=3), returns)
    np.testing.assert_array_equal(evaluate(env, lambda obs, noise: to_half(obs), 5, 3), returns)
    assert not np.array_equal(sfm.evaluate(to_half, env, 5, seed=4), returns)
    assert len(sfm.evaluate(to_half, env)) == 10


def test_the_best_policy_beats_chance():
    assert sfm.evaluate(to_half, "probe_point").min() > sfm.evaluate(random_policy(1), "probe_point").mean()


def test_only_what_it_made_itself_is_closed(monkeypatch):
    closed = []
    monkeypatch.setattr("sfm.envs.probes.Probe.close", lambda self: closed.append(self.name))
    sfm.evaluate(to_half, sfm.make_env("probe_point"), 1)
    assert closed == []
    sfm.evaluate(to_half, "probe_point", 1)
    assert closed == ["probe_point"]


def test_a_policy_for_another_body_is_refused():
    with pytest.raises(sfm.SfmError, match="the policy takes 24 numbers, but 'probe_point' observes 1"):
        sfm.evaluate(sfm.load_policy("walker_walk"), "probe_point")
    with pytest.raises(sfm.SfmError, match="episodes must be at least 1"):
        sfm.evaluate(to_half, "probe_point", 0)
    with pytest.raises(sfm.SfmError, match="unknown task 'probe_pint': did you mean probe_point"):
        sfm.evaluate(to_half, "probe_pint")
