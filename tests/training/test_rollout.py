"""Episodes from several environments in lockstep."""

import numpy as np
import pytest

from sfm.envs import make
from sfm.errors import SfmError
from sfm.training.rollout import EVALUATE, TRAIN, Rollout, acting, in_bouts, play, reset_seed, rollout


class Counter:
    """Counts its steps; ends after `length` of them, by termination or at its time limit of 6."""

    obs_dim, action_dim, max_steps, parallel = 2, 1, 6, False

    def __init__(self, length):
        self.length = length

    def reset(self, seed):
        self.time, self.seed = 0, seed
        return np.array([seed, 0], np.float32)

    def step(self, action):
        assert self.time < self.length, "stepped after the end"
        self.time += 1
        ended = self.time == self.length
        limit = self.time == self.max_steps
        return np.array([self.seed, self.time]), float(action[0]), ended and not limit, limit


def test_each_environment_gives_one_episode_padded_to_the_longest():
    seen = []

    def act(obs, t, group):
        seen.append((t, obs.copy()))
        return np.full((3, 1), t + 1.0)

    episodes = rollout([Counter(2), Counter(6), Counter(4)], [10, 20, 30], act)
    assert episodes.length.tolist() == [2, 6, 4]
    assert episodes.terminated.tolist() == [True, False, True]
    assert episodes.returns.tolist() == [3, 21, 10]
    for i, (seed, n) in enumerate(((10, 2), (20, 6), (30, 4))):
        np.testing.assert_array_equal(episodes.obs[i, : n + 1], [[seed, t] for t in range(n + 1)])
        np.testing.assert_array_equal(episodes.action[i].ravel(), [t + 1.0 if t < n else 0 for t in range(6)])
        assert not episodes.obs[i, n + 1 :].any()
        assert not episodes.reward[i, n:].any()
    assert [t for t, _ in seen] == list(range(6))
    np.testing.assert_array_equal(seen[1][1], [[10, 1], [20, 1], [30, 1]])
    assert {x.dtype for x in episodes[:3]} == {np.dtype(np.float32)}


def test_an_episode_in_parts_is_the_same_episode():
    def act(obs, t, group):
        return np.full((3, 1), t + 1.0)

    def envs():
        return [Counter(2), Counter(6), Counter(4)]

    whole, begun = rollout(envs(), [10, 20, 30], act), Rollout(envs(), [10, 20, 30])
    parts = [begun.advance(act, until) for until in (2, 4, 6)]
    for a, b in zip(whole, begun.episodes, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [part.length.tolist() for part in parts] == [[2, 2, 2], [0, 2, 2], [0, 2, 0]]
    assert [part.terminated.tolist() for part in parts] == [
        [True, False, False], [False, False, True], [False, False, False]
    ]  # fmt: skip
    np.testing.assert_array_equal(parts[1].obs[1], [[20, 2], [20, 3], [20, 4]])
    np.testing.assert_array_equal(parts[2].reward[1], [5, 6])


def test_when_all_have_ended_nobody_acts():
    times = []
    rollout([Counter(1), Counter(3)], [0, 0], lambda obs, t, group: times.append(t) or np.zeros((2, 1)))
    assert times == [0, 1, 2]


class Parallel(Counter):
    parallel = True


@pytest.mark.parametrize(("count", "groups"), [(1, 1), (3, 3), (4, 4), (7, 4), (8, 4)])
def test_environments_in_threads_give_what_they_give_one_after_another(count, groups):
    def act(obs, t, group):
        return t + 1.0 + np.arange(count, dtype=np.float32)[group, None]

    def episodes(kind):
        begun = Rollout([kind(1 + k % 6) for k in range(count)], range(count))
        for until in (2, 6):
            begun.advance(act, until)
        return begun

    apart, together = episodes(Parallel), episodes(Counter)
    assert (len(apart.groups), len(together.groups)) == (groups, 1)
    for a, b in zip(apart.episodes, together.episodes, strict=True):
        np.testing.assert_array_equal(a, b)


def test_walkers_in_threads_are_each_the_walker_alone():
    action = np.random.default_rng(0).uniform(-1, 1, (5, 1000, 6)).astype(np.float32)

    def states(which):
        envs = [make("walker_walk") for _ in which]
        begun = Rollout(envs, [100 + k for k in which])
        begun.advance(lambda obs, t, group: action[which[group], t], 60)
        return begun.episodes.obs[:, :61]

    together = states(np.arange(5))
    for k in range(5):
        np.testing.assert_array_equal(states(np.array([k]))[0], together[k])


def test_an_error_in_a_thread_reaches_the_caller():
    class Broken(Parallel):
        def step(self, action):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        rollout([Parallel(3), Broken(3)], [0, 0], lambda obs, t, group: np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("name", "length", "terminated"), [("probe_point", 20, False), ("probe_bandit", 1, True)]
)
def test_on_probes(name, length, terminated):
    episodes = rollout([make(name), make(name)], [1, 2], lambda obs, t, group: np.zeros((2, 1), np.float32))
    assert episodes.length.tolist() == [length] * 2
    assert episodes.terminated.tolist() == [terminated] * 2
    assert episodes.obs.shape == (2, length + 1, 1)


def test_a_chain_ends_where_it_arrives():
    episodes = rollout(
        [make("probe_chain") for _ in range(8)], range(8), lambda obs, t, group: np.ones((8, 1))
    )
    np.testing.assert_array_equal(episodes.length, 4 * (1 - episodes.obs[:, 0, 0]))
    assert episodes.terminated.all()
    assert (episodes.returns == 1).all()


def test_a_reset_seed_says_where_the_episode_stands():
    seeds = {reset_seed(s, stream, e) for s in range(5) for stream in (TRAIN, EVALUATE) for e in range(100)}
    assert len(seeds) == 1000
    assert reset_seed(3, TRAIN, 7) == reset_seed(3, TRAIN, 7)
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert reset_seed(0, TRAIN, 0) == 2968811710  # another number would break the resumption of saved runs


def test_a_policy_acts_with_the_noise_of_its_time():
    noise = np.arange(6.0).reshape(3, 2, 1)
    policy = lambda obs, noise: obs[:, :1] if noise is None else noise  # noqa: E731
    assert acting(policy, noise)(np.zeros((2, 2)), 1, slice(0, 2)).ravel().tolist() == [2, 3]
    assert acting(policy, noise)(np.zeros((1, 2)), 1, slice(1, 2)).ravel().tolist() == [3]
    assert acting(policy)(np.ones((2, 2)), 1, slice(0, 2)).ravel().tolist() == [1, 1]


class Spoilt(Counter):
    """Gives what is no number at a step, as its observation `time` or as its reward."""

    obs_names = ("seed", "time")

    def __init__(self, at, obs=0.0, reward=0.0):
        super().__init__(6)
        self.at, self.odd = at, (obs, reward)

    def step(self, action):
        obs, reward, *ends = super().step(action)
        if self.time > self.at and np.isnan(obs[1] + self.odd[0]):
            raise SfmError("the simulation broke down")
        odd = self.odd if self.time == self.at else (0.0, 0.0)
        return obs + np.array([0.0, odd[0]]), reward + odd[1], *ends


@pytest.mark.parametrize("parts", [(6,), (2, 4, 6)])
@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (Spoilt(3, obs=np.nan), "gave NaN in obs 'time' at step 3 of the episode that reset seed 20 starts"),
        (Spoilt(6, obs=np.inf), "gave infinity in obs 'time' at step 6"),
        (Spoilt(4, reward=-np.inf), "gave infinity in its reward at step 4"),
    ],
)
def test_what_is_no_number_is_named_with_its_place(parts, spoilt, message):
    """Also where the simulator stumbles over it before anybody looks."""
    begun = Rollout([Counter(6), spoilt], [10, 20])

    def play():
        for until in parts:
            begun.advance(lambda obs, t, group: np.zeros((2, 1)), until)

    with pytest.raises(SfmError, match=message):
        play()


def test_an_action_holds_for_several_steps():
    decisions = iter(np.arange(7, dtype=np.float32) / 10)
    played = play([make("probe_point")], [0], lambda obs, noise: np.full((1, 1), next(decisions)), hold=3)
    np.testing.assert_array_equal(played.action[0, :, 0], np.arange(20, dtype=np.float32) // 3 / 10)


def test_bouts_hold_each_action_at_a_bound_for_their_share_of_the_time():
    shape, calm = (4_000, 3, 2), 0.5
    act = in_bouts(lambda obs, t, group: np.full((3, 2), calm), shape, 0.3, np.random.default_rng(0))
    actions = np.array([act(np.zeros((3, 1)), t, slice(0, 3)) for t in range(shape[0])])
    inside = (actions != calm).all(-1)
    assert (np.abs(actions[inside]) == 1).all()
    assert (actions[~inside] == calm).all()
    assert inside.mean() == pytest.approx(0.3, abs=0.04)
    assert actions[inside].mean() == pytest.approx(0, abs=0.1)
    changed = (np.diff(actions, axis=0) != 0).any(-1)[inside[:-1]].mean()
    assert changed == pytest.approx(
        0.1 * (1 - 0.3 / 4), abs=0.02
    )  # of those that begin anew, some are the same


def test_without_a_share_nothing_is_held():
    act = in_bouts(lambda obs, t, group: np.full((1, 1), 0.5), (50, 1, 1), 0.0, np.random.default_rng(0))
    assert all(act(np.zeros((1, 1)), t, slice(0, 1)) == 0.5 for t in range(50))


def test_an_environment_that_begins_elsewhere_does_so_in_each_part_whatever_came_before():
    def act(obs, t, group):
        return np.full((2, 1), t + 1.0)

    started = []

    def elsewhere(time):
        started.append(time)
        envs[1].reset(100 + time)
        return np.array([100 + time, 0], np.float32)

    envs = [Counter(6), Counter(2)]  # the second ends after two steps
    begun = Rollout(envs, [10, 20], {1: elsewhere})
    parts = [begun.advance(act, until) for until in (3, 6)]
    assert started == [0, 3]
    assert [part.length.tolist() for part in parts] == [[3, 2], [3, 2]]
    assert [part.terminated.tolist() for part in parts] == [[False, True], [False, True]]
    np.testing.assert_array_equal(parts[1].obs[1, :3], [[103, 0], [103, 1], [103, 2]])
    np.testing.assert_array_equal(parts[1].obs[0], [[10, 3], [10, 4], [10, 5], [10, 6]])
