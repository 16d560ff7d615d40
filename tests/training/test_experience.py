"""The environments of the seeds, how they act there, and the room for their episodes."""

import numpy as np
import pytest

from sfm.config import BCConfig, ScheduleConfig
from sfm.envs import make
from sfm.envs.base import Motion
from sfm.envs.probes import Probe
from sfm.errors import SfmError
from sfm.training.clock import SeedProgress
from sfm.training.experience import Experience
from tests.conftest import point


def experience(seeds: int = 2, **changes) -> Experience:
    schedule = ScheduleConfig(envs=2, replay=1000, batch=32, assess_after=10**9, **changes)
    return Experience(schedule, lambda: make("probe_point"), [SeedProgress(s) for s in range(seeds)])


def noisy(obs, noise):
    """Shows the noise as the action."""
    return np.zeros((len(obs), 1), np.float32) if noise is None else noise


def test_seeds_share_environments_only_where_each_plays_whole_episodes():
    whole, parts = experience(), experience(bursts_per_episode=3)
    assert whole.train_envs[0] is whole.train_envs[1]
    assert len({id(env) for envs in parts.train_envs for env in envs}) == 4
    assert (whole.part_ends, parts.part_ends) == ([20], [7, 14, 20])
    assert whole.round_steps == 40


def played(e: Experience, i: int, policy=None) -> np.ndarray:
    rollout, act = e.begin(i, policy)
    return rollout.advance(act, 20).action


def test_without_a_policy_actions_are_uniform():
    action = np.concatenate([played(experience(50), i).ravel() for i in range(50)])
    assert -1 <= action.min() < -0.99 < 0.99 < action.max() <= 1
    assert action.std() == pytest.approx(1 / 3**0.5, rel=0.05)


def test_a_policy_explores_with_noise_of_its_own_in_every_episode():
    e = experience()
    noise = played(e, 0, noisy)
    assert noise.std() == pytest.approx(1, abs=0.3)
    np.testing.assert_array_equal(played(e, 0, noisy), noise)  # a resumed run repeats it
    others = [played(e, 1, noisy)]
    e.progress[0].episodes = 2
    others += [played(e, 0, noisy), noise[::-1]]
    assert not any(np.array_equal(noise, other) for other in others)


def test_some_environments_begin_each_part_in_a_demonstrated_state_and_visit_nothing():
    env = make("walker_walk")
    begin = env.reset(0)
    height, walking = begin.tolist()[14], np.zeros((3, 9))
    walking[:, 0] = 1 + height + np.arange(3)  # above every height from which episodes start
    schedule = ScheduleConfig(envs=4, bursts_per_episode=10, assess_after=10**9, reset_share=0.5)
    progress = [SeedProgress(0)]
    e = Experience(schedule, lambda: make("walker_walk"), progress, motion=Motion(walking, np.zeros((3, 9))))
    assert e.visited == 2

    def heights():
        """Of the starts of two parts, [2, 4]."""
        rollout, act = e.begin(0, None)
        return np.array([rollout.advance(act, until).obs[:, 0, 14] for until in (1, 2)])

    first = heights()
    known = [env.observe(qpos, np.zeros(9))[14] for qpos in walking]
    assert np.isin(first[:, 2:], known).all()
    assert not np.isin(first[:, :2], known).any()
    np.testing.assert_array_equal(heights(), first)  # a resumed run repeats it
    progress[0].episodes = 4
    later = [heights() for progress[0].episodes in range(4, 40, 4)]
    assert {*np.array(later)[..., 2:].ravel().tolist()} == {float(h) for h in known}
    assert Experience(schedule, lambda: make("walker_walk"), progress).visited == 4  # without a motion
    with pytest.raises(SfmError, match="reset_share leaves no environment"):
        ScheduleConfig(envs=2, reset_share=0.9)


def test_fresh_episodes_explore_with_noise_of_their_own_at_every_refresh():
    e = experience()
    fresh = e.fresh(0, 3, noisy)
    assert fresh.action.shape == (3, 20, 1)
    assert fresh.action.std() == pytest.approx(1, abs=0.3)
    assert len(np.unique(fresh.action)) == 60
    assert len(np.unique(fresh.obs[:, 0])) == 3
    np.testing.assert_array_equal(e.fresh(0, 3, noisy).action, fresh.action)
    again, other = e.fresh(1, 3, noisy), played(e, 0, noisy)
    e.progress[0].refreshes = 1
    later = e.fresh(0, 3, noisy)
    for a in (again.action, later.action, other):
        assert not np.isin(a, fresh.action).any()
    assert not np.isin(later.obs[:, 0], fresh.obs[:, 0]).any()
    assert not e.layouts[0].episodes  # the replay does not see them


def test_a_replay_too_small_for_a_round_is_refused_where_episodes_are_played(acted_demos):
    with pytest.raises(SfmError, match="cannot hold an episode of 20 steps of each of 2 environments"):
        point(replay=39)
    point(replay=39, objective=BCConfig(), demos=acted_demos)


class Put(Probe):
    """A point that remembers in which states it was put."""

    model = data = observe = None

    def __init__(self):
        super().__init__("probe_point")
        self.put = []

    def set_state(self, qpos, qvel):
        self.put.append((*qpos.tolist(), *qvel.tolist()))
        return np.zeros(1, np.float32)


def test_states_are_drawn_anew_for_each_seed_environment_and_part():
    motion = Motion(np.arange(1000.0)[:, None], -np.arange(1000.0)[:, None])
    schedule = ScheduleConfig(
        envs=4, replay=1000, batch=32, bursts_per_episode=5, assess_after=10**9, reset_share=0.5
    )
    e = Experience(schedule, Put, [SeedProgress(s) for s in range(2)], motion=motion)
    for i in range(2):
        rollout, act = e.begin(i, None)
        for end in e.part_ends:
            rollout.advance(act, end)
    envs = [env for envs in e.train_envs for env in envs]
    assert [len(env.put) for env in envs] == 2 * [0, 0, 5, 5]  # pyright: ignore
    put = [state for env in envs for state in env.put]  # pyright: ignore
    assert all(position == -velocity for position, velocity in put)
    assert len(set(put)) >= 19  # of 20: two may be alike by chance
