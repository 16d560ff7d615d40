"""What acts without JAX is what JAX trains, acts as fast as it can, and starts at once."""

import subprocess
import sys
import time
import types

import numpy as np
import pytest

import sfm
from benchmarks.acting import bare, fresh
from sfm import storage
from sfm.acting import Actor
from sfm.agents.agent import make_agent
from sfm.config import Config, StochasticConfig, TD3Config, TD7Config
from sfm.errors import SfmError
from sfm.policy import networks, save_policy
from sfm.presets import PRESETS

SMALL = {"width": 24}
LEARNERS = {
    "td3": TD3Config(**SMALL, depth=3),
    "td3-normed": TD3Config(**SMALL, actor_norm=True, explore_noise=0.3),
    "td7": TD7Config(**SMALL, embedding=7),
    "td7-normed": TD7Config(**SMALL, embedding=7, actor_norm=True),
    "stochastic": StochasticConfig(**SMALL, depth=1, log_std_max=0.5),
    "stochastic-normed": StochasticConfig(**SMALL, actor_norm=True),
}


def saved(config, path, obs_dim=5, action_dim=3, **meta):
    """A policy file whose every array is random, so that each of them matters."""
    agent, rng = make_agent(config, obs_dim, action_dim), np.random.default_rng(0)
    save_policy(
        path, agent.policy(agent.init(rng)), config, obs_dim=obs_dim, action_dim=action_dim, task="x", **meta
    )
    arrays, meta = storage.read_arrays(path)
    for name, v in arrays.items():  # weights stay of their size
        change = rng.standard_normal(v.shape) * 0.3 / (len(v) if v.ndim == 2 else 1) ** 0.5
        arrays[name] = (v + change).astype(np.float32)
    if "spread" in arrays:
        arrays["spread"] = np.abs(arrays["spread"]) + np.float32(0.1)
    storage.write_arrays(path, arrays, meta)
    return path


def unfolded(policy, kind=np.float32, fold=None):
    """The actor of a loaded policy, by the steps as they are, in numbers of this kind."""
    arrays = {name: array.astype(kind) for name, array in policy.act.arrays.items()}
    return Actor(arrays, policy.meta["config"]["learner"]["kind"], policy.act.form, fold)


@pytest.mark.parametrize("normalise", ["none", "all"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_acts_as_in_jax(name, normalise, tmp_path):
    import jax

    path = saved(Config(learner=LEARNERS[name], normalise=normalise), tmp_path / "policy.safetensors")
    policy, module, rng = sfm.load_policy(path), networks(path), np.random.default_rng(1)
    obs = (rng.standard_normal((1000, 5)) * 10.0 ** rng.uniform(-3, 2, (1000, 1))).astype(np.float32)
    noise = rng.standard_normal((1000, 3)).astype(np.float32)
    act = lambda module, obs, drawn: module(obs, drawn)  # noqa: E731
    plain = unfolded(policy)
    for drawn in (None, noise):
        action = policy(obs, drawn)
        assert action.dtype == np.float32
        np.testing.assert_array_equal(plain(obs, drawn), module(obs, drawn))  # the same operations, in order
        np.testing.assert_allclose(action, jax.jit(act)(module, obs, drawn), atol=2e-5)
    np.testing.assert_allclose(policy(obs[7]), policy(obs)[7], atol=1e-5)
    folded = policy(obs[:6].reshape(2, 3, 5)).reshape(6, 3)
    np.testing.assert_allclose(folded, policy(obs[:6]), atol=1e-5)
    assert policy(obs).std(0).min() > 0.05


def test_it_leaves_what_it_is_given_as_it_is(tmp_path):
    for name, learner in LEARNERS.items():
        policy = sfm.load_policy(saved(Config(learner=learner), tmp_path / f"{name}.safetensors"))
        obs = np.ones((2, 5), np.float32)
        first = policy(obs)
        np.testing.assert_array_equal(obs, 1)
        np.testing.assert_array_equal(policy(obs), first)


@pytest.mark.parametrize("wrong", ["missing", "more", "shape"])
def test_arrays_that_do_not_fit_are_refused(wrong, tmp_path):
    path = saved(Config(learner=TD3Config(width=8)), tmp_path / "policy.safetensors")
    arrays, meta = storage.read_arrays(path)
    if wrong == "missing":
        del arrays["actor/layers/1/bias"]
    elif wrong == "more":
        arrays["mean_of_what"] = np.zeros(3, np.float32)
    else:
        arrays["actor/layers/2/weight"] = arrays["actor/layers/2/weight"][:, :2]
    storage.write_arrays(path, arrays, meta)
    with pytest.raises(SfmError, match="does not fit its configuration"):
        sfm.load_policy(path)


def test_a_policy_loads_and_acts_without_jax():
    code = (
        "import sys, numpy, sfm; policy = sfm.load_policy('walker_walk'); "
        "policy.predict(numpy.zeros(24)); policy.predict(numpy.zeros((2, 24)), deterministic=False); "
        "print({'jax', 'equinox', 'mujoco', 'dm_control', 'scipy', 'tyro'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_from_import_to_the_first_action_takes_little_time():
    """Of the processor, since other processes may hold up this one; the better of three."""
    code = (
        "import sfm, numpy, time; sfm.load_policy('walker_walk').predict(numpy.zeros(24)); "
        "print(time.process_time())"
    )
    taken = [float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(3)]
    assert min(taken) < 0.4


def fastest(functions, obs, rounds=400, times=50):
    """Seconds of a call of each, in turn, at their best."""
    best = [np.inf] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            begin = time.perf_counter()
            for _ in range(times):
                function(obs)
            best[i] = min(best[i], (time.perf_counter() - begin) / times)
    return best


@pytest.mark.parametrize(
    "name", ["walker_walk", "cheetah_run", "general", "fast"]
)  # bare, and all with norms
def test_a_prediction_takes_little_more_than_the_bare_network(name):
    policy = fresh(name) if name in PRESETS else sfm.load_policy(name)
    network = bare(policy)
    obs = np.zeros(policy.obs_dim, np.float32)
    if name == "walker_walk":
        np.testing.assert_allclose(network(obs), policy(obs), atol=1e-5)
    ours, least = fastest([policy.predict, network], obs)
    assert ours < 1.5 * least


def test_an_actor_explores_by_the_numbers_of_its_learner():
    arrays = {"actor/layers/0/weight": np.zeros((1, 2), np.float32), "actor/layers/0/bias": np.zeros(2, "f")}
    obs, noise = np.ones(1, np.float32), np.array([1.0, -9.0], np.float32)
    form = types.SimpleNamespace(log_std_min=-2.0, log_std_max=0.0, explore_noise=0.3)
    drawn = Actor(arrays, "stochastic", form)(obs, noise[:1])
    np.testing.assert_allclose(drawn, np.tanh(np.exp(-1.0)), rtol=1e-6)
    np.testing.assert_allclose(Actor(arrays, "td3", form)(obs, noise), [0.3, -1], rtol=1e-6)


def test_presets_have_no_other_learners():
    assert {type(config.learner) for config in PRESETS.values()} == {type(each) for each in LEARNERS.values()}
