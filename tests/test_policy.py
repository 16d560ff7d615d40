import numpy as np
import pytest

import sfm
import sfm.demos.bundled
from sfm.errors import SfmError
from sfm.policy import Policy, networks
from sfm.reporter import Silent
from sfm.run import create
from tests.conftest import tiny


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    from tests.conftest import walk_to_half

    folder = tmp_path_factory.mktemp("policy") / "run"
    demos = sfm.Demos.from_list([walk_to_half(-1.0)])
    create(folder, tiny(steps=120, seeds=2), demos).train(Silent())
    return folder


def test_predict_follows_the_stable_baselines_convention(run_folder):
    policy = sfm.load_policy(run_folder)
    action, state = policy.predict(np.zeros(1))
    assert action.shape == (1,)
    assert action.dtype == np.float32
    assert state is None
    batch, _ = policy.predict(np.zeros((5, 1), np.float32))
    assert batch.shape == (5, 1)
    np.testing.assert_allclose(batch[0], action, atol=1e-6)


class Echo:
    """A network whose action is the sum of what it sees, and half of that."""

    def __call__(self, obs, noise=None):
        total = obs.sum(-1, keepdims=True)
        return np.concatenate([total, total / 2], -1).astype(np.float32)


def test_predict_takes_and_gives_the_shapes_of_the_spaces():
    meta = {"obs_dim": 4, "action_dim": 2, "obs_shape": [2, 2], "action_shape": [2, 1]}
    policy, obs = Policy(Echo(), meta), np.full((2, 2), 0.1, np.float32)
    action, _ = policy.predict(obs)
    np.testing.assert_allclose(action, [[0.4], [0.2]], rtol=1e-6)
    batch, _ = policy.predict(np.stack([obs, 2 * obs, 0 * obs]))
    np.testing.assert_allclose(batch[:, 0, 0], [0.4, 0.8, 0.0], rtol=1e-6)
    assert batch.shape == (3, 2, 1)
    np.testing.assert_array_equal(policy.predict(obs.ravel())[0], action)  # the vector of it
    np.testing.assert_array_equal(policy.predict(obs.reshape(1, 4))[0], action[None])
    with pytest.raises(SfmError, match=r"shape \[2, 3\], expected \[2, 2\] or \[B, 2, 2\]"):
        policy.predict(np.zeros((2, 3)))


def test_predict_takes_the_dict_of_a_dict_observation():
    meta = {"obs_dim": 3, "action_dim": 2, "obs_shape": {"far": [], "place": [1, 2]}}
    policy = Policy(Echo(), meta)
    one = {"place": [[0.1, 0.2]], "far": 0.3}
    np.testing.assert_allclose(policy.predict(one)[0], [0.6, 0.3], rtol=1e-6)
    many = {"place": np.zeros((5, 1, 2)), "far": np.linspace(0, 0.4, 5)}
    np.testing.assert_allclose(policy.predict(many)[0][:, 0], np.linspace(0, 0.4, 5), rtol=1e-6)
    np.testing.assert_allclose(policy.predict([0.3, 0.1, 0.2])[0], [0.6, 0.3], rtol=1e-6)
    with pytest.raises(SfmError, match="must have the keys far, place; it has far"):
        policy.predict({"far": 0.3})
    with pytest.raises(SfmError, match="must be numbers"):
        policy.predict({"place": [["a", "b"]], "far": 0.3})


def test_exploring_actions_differ_and_stay_in_range(run_folder):
    policy = sfm.load_policy(run_folder)
    obs = np.zeros((200, 1), np.float32)
    noisy, _ = policy.predict(obs, deterministic=False, rng=np.random.default_rng(0))
    assert noisy.std() > 0.01
    assert np.abs(noisy).max() <= 1


def test_each_seed_and_kind_has_its_policy(run_folder):
    actions = {
        (which, seed): float(sfm.load_policy(run_folder, which=which, seed=seed).predict(np.ones(1))[0][0])
        for which in ("kept", "current")
        for seed in (0, 1)
    }
    assert actions["current", 0] != actions["current", 1]


def test_a_policy_file_alone_is_enough(run_folder):
    path = run_folder / "policies" / "current_seed1.safetensors"
    policy = sfm.load_policy(path)
    assert policy.meta["seed"] == 1
    assert policy.meta["task"] == "probe_point"


def test_networks_hold_numpy_arrays_only(run_folder):
    import jax

    leaves = jax.tree.leaves(networks(run_folder / "policies" / "kept_seed0.safetensors"))
    assert leaves
    assert all(type(leaf) is np.ndarray for leaf in leaves)


@pytest.mark.parametrize(("shape", "message"), [((3,), r"shape \[3\]"), ((2, 2, 1), "shape"), ((), "shape")])
def test_a_wrong_observation_is_refused(run_folder, shape, message):
    with pytest.raises(SfmError, match=message):
        sfm.load_policy(run_folder).predict(np.zeros(shape))


def test_what_is_no_policy_is_refused(run_folder, tmp_path):
    with pytest.raises(SfmError, match="holds no policy"):
        sfm.load_policy(tmp_path)
    with pytest.raises(SfmError, match="not a policy"):
        sfm.load_policy(max(run_folder.glob("checkpoints/*.safetensors")))
    with pytest.raises(SfmError, match="not found"):
        sfm.load_policy(tmp_path / "missing.safetensors")
    with pytest.raises(SfmError, match="holds no policy of seed 5"):
        sfm.load_policy(run_folder, seed=5)
    with pytest.raises(SfmError, match="which must be 'kept' or 'current', not 'best'"):
        sfm.load_policy(run_folder, which="best")


@pytest.mark.parametrize("task", sfm.demos.bundled.names())
def test_a_bundled_expert_repeats_its_demonstration(task):
    """From the recorded reset seed the bundled policy takes the recorded actions."""
    from sfm.demos import bundled

    demos, made = bundled.bundled(task), bundled.provenance(task)
    assert demos is not None
    assert demos.action is not None
    policy, env = sfm.load_policy(task), sfm.make_env(task)
    obs = env.reset(made["reset_seeds"][0])
    for t in range(3):  # later states differ between machines by the chaos of contacts
        np.testing.assert_allclose(obs, demos.obs[0, t], atol=1e-3)
        action = policy(obs)  # in [-1, 1], as in demonstrations
        np.testing.assert_allclose(action, demos.action[0, t], atol=1e-2)
        obs = env.step(action)[0]
    np.testing.assert_array_equal(policy.meta["action_low"], env.low)
    np.testing.assert_array_equal(policy.meta["action_high"], env.high)


def test_actions_are_in_the_range_of_the_actuators(tmp_path):
    """Pendulum-v1 takes torques between -2 and 2; the policy itself, and `make_env`, know only [-1, 1]."""
    demos = sfm.Demos.from_list([np.random.default_rng(0).normal(size=(50, 3))])
    create(tmp_path / "run", tiny(task="Pendulum-v1", steps=400), demos).train(Silent())
    policy, obs = sfm.load_policy(tmp_path / "run"), np.array([[0.1, 0.9, -3.0], [1.0, 0.0, 0.5]], np.float32)
    np.testing.assert_array_equal(policy.predict(obs)[0], 2 * policy(obs))
    assert policy.predict(obs[0])[0].dtype == np.float32
