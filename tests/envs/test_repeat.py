"""Action repeat: the same physics with fewer decisions."""

import numpy as np
import pytest

import sfm
from sfm.demos import Demos
from sfm.envs import make
from sfm.envs.repeat import Repeat, automatic
from sfm.run import reopen


def test_a_step_is_several_steps_with_the_same_action():
    plain, repeated = make("walker_walk"), Repeat(make("walker_walk"), 3)
    np.testing.assert_array_equal(plain.reset(7), repeated.reset(7))
    for action in np.random.default_rng(0).uniform(-1, 1, (5, 6)).astype(np.float32):
        steps = [plain.step(action) for _ in range(3)]
        obs, reward, terminated, truncated = repeated.step(action)
        np.testing.assert_array_equal(obs, steps[-1][0])
        assert reward == pytest.approx(sum(s[1] for s in steps)) != steps[-1][1]
        assert (terminated, truncated) == (False, False)


@pytest.mark.parametrize(("times", "decisions"), [(1, 20), (3, 7), (7, 3), (50, 1)])
def test_the_time_limit_is_the_same_and_ends_a_decision_early(times, decisions):
    env, taken = Repeat(make("probe_point"), times), 0
    env.reset(0)
    truncated = False
    while not truncated:
        _, _, _, truncated = env.step(np.zeros(1, np.float32))
        taken += 1
    assert taken == decisions == env.max_steps
    assert env.control_timestep == pytest.approx(times * make("probe_point").control_timestep)


def test_what_terminates_does_so_within_a_decision():
    env = Repeat(make("probe_bandit"), 4)
    env.reset(0)
    _, reward, terminated, truncated = env.step(np.full(1, 0.3, np.float32))
    assert reward == pytest.approx(1.0)
    assert (terminated, truncated) == (True, False)


@pytest.mark.parametrize(("task", "times"), [("cheetah_run", 3), ("walker_walk", 1), ("quadruped_run", 2)])
def test_automatic_is_nearest_to_32_milliseconds(task, times):
    assert automatic(make(task).control_timestep) == times


def test_a_run_with_repeated_actions_counts_frames_and_its_policy_holds_them(tmp_path):
    demo = sfm.load_demos("walker_walk").obs[0, :101]
    sizes = {"learner.width": 8, "features.width": 8, "features.head_width": 8, "features.dim": 4}
    result = sfm.train(
        "walker_walk",
        demo,
        preset="fast",
        steps=8_000,
        action_repeat=2,
        folder=tmp_path / "run",
        schedule__random_steps=4_000,
        **{name.replace(".", "__"): size for name, size in sizes.items()},
    )
    rows = [row for row in result.rows if "updates" in row]
    rounds = [row["step"] for row in rows if "episodes" in row]
    assert rounds == [4_000, 8_000]  # of the environments: two for each of 4 x 500 decisions
    assert rows[-1]["updates"] == 1_000  # a quarter for each frame after the random ones
    assert reopen(result.folder).training().evaluator.demos.length == [50]  # likeness is that of decisions
    policy = result.policy
    assert policy.action_repeat == 2
    obs = make("walker_walk").reset(0)
    first, state = policy.predict(obs)
    held, state = policy.predict(obs + 1, state)
    after, _ = policy.predict(obs + 1, state)
    np.testing.assert_array_equal(first, held)
    assert np.abs(after - first).max() > 0


def test_a_demonstration_is_thinned_to_the_decisions():
    obs, action = np.arange(8.0)[:, None], np.arange(7.0)[:, None]
    demos = Demos.from_list([obs, obs[:6]], [action, action[:5]]).thinned(2)
    np.testing.assert_array_equal(demos.length, [3, 2])
    np.testing.assert_array_equal(demos.obs[0, :, 0], [0, 2, 4, 6])
    np.testing.assert_array_equal(demos.obs[1, :3, 0], [0, 2, 4])
    np.testing.assert_array_equal(demos.action[0, :, 0], [0.5, 2.5, 4.5])
