"""Episodes of a Gymnasium environment, recorded."""

import gymnasium
import numpy as np
import pytest

from sfm.demos import Demos, load
from sfm.demos.record import Record
from sfm.errors import SfmError
from tests.demos.samples import assert_equal
from tests.envs.own_worlds import Slide


def test_recorded_episodes_of_gymnasium(tmp_path):
    played, seen, gained = [], [], []
    with Record(gymnasium.make("Pendulum-v1", max_episode_steps=5), tmp_path / "x.npz") as env:
        for episode in range(3):
            seen.append([env.reset(seed=episode)[0]])
            gained.append([])
            for _ in range(5 if episode < 2 else 3):  # the last one does not end
                action = np.array([0.5 * (episode + 1)], np.float32)
                played.append(action)
                obs, reward, *_ = env.step(action)
                seen[-1].append(obs)
                gained[-1].append(reward)
        assert env.demos().length.tolist() == [5, 5]
    # Pendulum's torque goes from -2 to 2.
    actions = [np.full((5, 1), torque / 2) for torque in (0.5, 1.0)]
    expected = Demos.from_list([np.stack(x) for x in seen[:2]], actions, reward_list=gained[:2])
    assert expected.reward is not None
    assert_equal(load(tmp_path / "x.npz"), expected)


def test_what_is_recorded_matches_its_suffix(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    with Record(gymnasium.make("Pendulum-v1", max_episode_steps=3), tmp_path / "x.csv") as env:
        env.reset(seed=0)
        for _ in range(3):
            env.step(np.zeros(1, np.float32))
        expected = env.demos()
    assert (tmp_path / "x.csv").read_text().startswith("episode,state_0,state_1,state_2,action_0,reward\n")
    assert_equal(load(tmp_path / "x.csv"), expected)
    with pytest.raises(SfmError, match="which format"):
        Record(gymnasium.make("Pendulum-v1"), tmp_path / "x.rec")


def test_a_recording_without_a_whole_episode_says_so(tmp_path):
    env = Record(gymnasium.make("Pendulum-v1"), tmp_path / "x.npz")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=r"no episode has ended, so .*x.npz was not written"):
        env.close()
    assert not (tmp_path / "x.npz").exists()


def test_a_dict_is_recorded_as_it_is_trained_on():
    with Record(gymnasium.wrappers.TimeLimit(Slide(), 3)) as env:
        obs, _ = env.reset(seed=0)
        for _ in range(3):
            env.step(np.ones((2, 1), np.float32))
        states = env.demos().obs
    assert states.shape == (1, 4, 3)
    np.testing.assert_allclose(states[0, 0], [obs["far"], *obs["place"][0]], rtol=1e-6)
