"""Folded policies are the same policies: in exact numbers the same, in float32 as near to the truth."""

import numpy as np
import pytest

import sfm
from sfm import storage
from sfm.config import Config
from sfm.folding import folded as folded_steps
from tests.test_acting import LEARNERS, saved, unfolded


def states(policy, count):
    """Around those of training, some of them far away."""
    arrays, rng = policy.act.arrays, np.random.default_rng(3)
    drawn = rng.standard_normal((count, policy.obs_dim)) * 10 ** rng.uniform(-2, 1.5, (count, 1))
    return (arrays.get("mean", 0) + arrays.get("spread", 1) * drawn).astype(np.float32)


def assert_same(policy, count=3000):
    obs = states(policy, count)
    exact = unfolded(policy, np.float64)(obs.astype(np.float64))
    folded = unfolded(policy, np.float64, folded_steps)
    np.testing.assert_allclose(folded(obs.astype(np.float64)), exact, rtol=0, atol=1e-9)
    one_by_one = np.array([folded(x) for x in obs[:300].astype(np.float64)])
    np.testing.assert_allclose(one_by_one, exact[:300], rtol=0, atol=1e-9)

    plain = unfolded(policy)
    rounding = np.abs(plain(obs) - exact).max()  # of float32 itself
    assert np.abs(policy(obs) - exact).max() < 1e-6 + 2 * rounding
    assert np.abs(np.array([policy(x) for x in obs]) - exact).max() < 1e-6 + 2 * rounding
    noise = np.ones((count, policy.action_dim), np.float32)
    np.testing.assert_allclose(policy(obs, noise), plain(obs, noise), rtol=0, atol=1e-5 + 4 * rounding)


def operations(policy):
    return [step.func.__name__ for step in policy.act._run if hasattr(step, "func")]


@pytest.mark.parametrize("normalise", ["none", "all"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner(name, normalise, tmp_path):
    config = Config(learner=LEARNERS[name], normalise=normalise)
    policy = sfm.load_policy(saved(config, tmp_path / "policy.safetensors"))
    assert_same(policy)
    assert "_run_standardise" not in operations(policy)
    of_relu = name in ("td3-normed", "stochastic-normed")
    assert ("_run_layer_norm" in operations(policy)) == (name == "td7-normed")
    assert ("_run_size_one" in operations(policy)) == of_relu


@pytest.mark.parametrize("task", ["cheetah_run", "walker_walk"])
def test_trained_experts(task):
    assert_same(sfm.load_policy(task))


@pytest.mark.parametrize(("scale", "folds"), [(-0.7, True), (1e-2, True), (1e-5, False), (0.0, False)])
def test_scales_that_are_negative_small_or_nothing(scale, folds, tmp_path):
    config = Config(learner=LEARNERS["td3-normed"], normalise="all")
    path = saved(config, tmp_path / "policy.safetensors")
    arrays, meta = storage.read_arrays(path)
    for name in [name for name in arrays if name.endswith("/scale")]:
        arrays[name][::3] = scale
    storage.write_arrays(path, arrays, meta)
    policy = sfm.load_policy(path)
    assert_same(policy)
    assert ("_run_layer_norm" in operations(policy)) != folds


def test_the_steps_and_arrays_that_others_read_stay_as_they_were_trained(tmp_path):
    path = saved(Config(learner=LEARNERS["td3-normed"], normalise="all"), tmp_path / "policy.safetensors")
    policy, (arrays, _) = sfm.load_policy(path), storage.read_arrays(path)
    assert policy.act.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(policy.act.arrays[name], array)
    assert {step[0] for step in policy.act.steps} == {"standardise", "linear", "layer_norm", "relu"}
