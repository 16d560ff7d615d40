"""Likeness: 1 for the expert again, 0 for random actions, and between them what return cannot tell."""

import numpy as np
import pytest

from sfm.demos import Demos
from sfm.envs import make
from sfm.training.likeness import MOST, Likeness, likeness_to, transitions


def stride(hertz: float, count: int, spread: float = 1.0, seconds: float = 25.0) -> list[np.ndarray]:
    """Episodes of two joints that swing in antiphase, begun at any moment; a third number stays."""
    t = np.arange(0, seconds, 0.025)
    begin = np.random.default_rng(count).uniform(0, 2 * np.pi, count)
    wave = spread * np.sin(2 * np.pi * hertz * t[None] + begin[:, None])
    return [np.stack([w, -w, np.full_like(w, 5.0)], 1) for w in wave]


def noise(count: int, seed: int = 0) -> list[np.ndarray]:
    """Episodes of numbers that wander about zero."""
    steps = np.random.default_rng(seed).normal(0, 1, (1100, count, 3))
    kernel = 0.9 ** np.arange(100)
    wander = np.apply_along_axis(np.convolve, 0, steps, kernel, mode="valid")
    return list(wander.transpose(1, 0, 2))


@pytest.fixture(scope="module")
def alike() -> Likeness:
    return Likeness(stride(0.8, 1), noise(4))


def test_the_expert_again_is_1_and_random_actions_are_0(alike):
    assert alike(stride(0.8, 3)) == pytest.approx(1.0, abs=0.02)
    assert alike(noise(4)) == pytest.approx(0.0, abs=1e-9)
    assert alike(noise(4, seed=1)) == pytest.approx(0.0, abs=0.15)


def test_a_shuffle_with_the_same_mean_is_less_alike(alike):
    """Also one that goes through the same poses three times as fast: only s' - s tells."""
    still = [np.tile([0.0, 0.0, 5.0], (1000, 1))]
    assert alike(stride(0.8, 3, spread=0.3)) < 0.95
    assert alike(still) < alike(stride(0.8, 3, spread=0.6)) < alike(stride(0.8, 3)) - 0.02
    assert alike(stride(2.4, 3)) < alike(stride(1.2, 3)) < alike(stride(0.8, 3)) - 0.005


def test_units_do_not_matter():
    scale = np.array([1e-3, 1.0, 1e3])
    scaled = Likeness([x * scale for x in stride(0.8, 1)], [x * scale for x in noise(4)])
    plain = Likeness(stride(0.8, 1), noise(4))
    shuffle = stride(1.6, 2, spread=0.5)
    assert scaled([x * scale for x in shuffle]) == pytest.approx(plain(shuffle), abs=1e-6)


def test_several_demonstrations_say_how_much_an_expert_differs_from_itself():
    """Where experts stride at 0.6 to 1.0 hertz, 1.0 hertz is more alike than where all have 0.8."""
    various = [stride(hertz, 1)[0] for hertz in (0.6, 0.8, 1.0)]
    fast = stride(1.0, 2)
    assert Likeness(various, noise(4))(fast) > Likeness(stride(0.8, 3), noise(4))(fast)
    assert Likeness(various, noise(4))(various) > 1.01  # together they are nearer than one is to another


def test_tenths_of_one_demonstration_in_turn_say_it_where_there_is_no_other():
    """Where every second tenth is wider, that is the expert's own variety; a wider second half is in both."""
    narrow, wide = (np.array_split(stride(2.0, 1, spread)[0], 10) for spread in (0.5, 1.0))
    by_turns = np.concatenate([(narrow, wide)[k % 2][k] for k in range(10)])
    halves = np.concatenate(narrow[:5] + wide[5:])
    assert Likeness([by_turns], noise(4))([by_turns]) > 1.1
    assert Likeness([halves], noise(4))([halves]) < 1.04


def test_a_demonstration_of_one_step_is_the_expert_again():
    assert Likeness([stride(0.8, 1)[0][:2]], noise(4))([stride(0.8, 1)[0][:2]]) == 1


def test_the_distance_is_that_of_a_shift_in_one_dimension():
    """Namely the shift, over the coordinate's spread, times the mean |direction|."""
    rng = np.random.default_rng(0)
    demo = np.repeat(rng.normal(0, 1, (2000, 1)), 2, axis=0)  # s' - s is zero at every second step
    alike = Likeness([demo], [demo + 3.0])
    spread = np.sqrt(np.var(demo[:-1]) + 1.5**2)
    one = np.abs(alike._directions[0]).mean()
    assert alike.distance([demo + 1.0]) == pytest.approx(one / spread, rel=0.01)


def test_transitions_are_states_and_steps():
    np.testing.assert_array_equal(
        transitions([np.array([[1.0], [3.0], [6.0]])]), np.array([[1.0, 2.0], [3.0, 3.0]])
    )


def test_many_transitions_are_thinned_evenly_over_all_episodes():
    ramp = np.arange(2 * MOST + 2.0)[:, None]
    some = transitions([ramp[: MOST + 1], ramp[MOST + 1 :]])
    assert some.shape == (MOST, 2)
    np.testing.assert_allclose(some[:, 0], np.linspace(0, 2 * MOST, MOST), atol=1.5)
    assert set(some[:, 1]) == {1.0}  # none from one episode to the next


def test_the_quantiles_are_those_of_numpy(alike):
    episodes = stride(0.8, 2, seconds=10.0)
    shown = ((transitions(episodes) - alike._mean) * alike._scale) @ alike._directions
    want = np.quantile(shown, (np.arange(400) + 0.5) / 400, axis=0).T
    np.testing.assert_allclose(alike._quantiles(episodes), want, atol=1e-5)


def test_where_random_actions_are_as_alike_as_the_expert_there_is_nothing_to_tell():
    assert np.isnan(Likeness(stride(0.8, 3), stride(0.8, 3))(noise(1)))


def test_a_demonstration_of_one_step_is_as_alike_to_itself_as_can_be():
    short = np.array([[0.0, 0.0, 5.0], [0.1, -0.1, 5.0]])
    assert Likeness([short], noise(4))([short]) == pytest.approx(1.0)


def test_random_actions_are_the_same_however_many_environments_play_them(point_demos):
    walk = [np.linspace([0.0], [1.0], 20)]
    one, two = (likeness_to(point_demos, [make("probe_point") for _ in range(n)])(walk) for n in (1, 2))
    assert one == two
    again = likeness_to(Demos(*(None if x is None else x[:1] for x in point_demos)), [make("probe_point")])
    assert again(walk) != one


def test_where_a_part_is_known_the_rest_does_not_count():
    """The third number of the demonstration means nothing, and that of the policy is far away."""
    told, other = stride(0.8, 1), [e + np.array([0, 0, 100]) for e in stride(0.8, 3)]
    part = Likeness([e * [1, 1, np.nan] for e in told], noise(4), part=(0, 1))
    assert part(other) == pytest.approx(1.0, abs=0.02)
    assert Likeness(told, noise(4))(other) < 0
