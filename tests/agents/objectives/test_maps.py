"""Features that are not learned, against the kernels and distributions that they stand for."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, context, random_batch, random_demos, rng, small_sfm

from sfm.agents.objectives.sfm import SFM, make_features
from sfm.agents.types import ExpertStates


def features(method, spec=SPEC, **changes):
    f = make_features(small_sfm(method, **changes).features, spec)
    return f, f.init(rng())


def gaussian(a, b, sigma):
    return np.exp(-np.square(a[:, None] - b[None]).sum(-1) / (2 * sigma**2))


@pytest.mark.parametrize("bandwidths", [(0.5,), (0.3, 1.0)])
def test_waves_are_gaussian_kernels_of_their_bandwidths(bandwidths):
    """<phi(s), phi(s')> / d is their mean, to the order of 1 / sqrt(d)."""
    f, waves = features("fourier", dim=20_000, bandwidths=bandwidths)
    states = np.random.default_rng(1).standard_normal((6, SPEC.obs_dim)).astype(np.float32)
    phi = np.asarray(f.phi(waves)(states))
    distance = (2 * SPEC.obs_dim) ** 0.5
    expected = np.mean([gaussian(states, states, distance * b) for b in bandwidths], axis=0)
    np.testing.assert_allclose(phi @ phi.T / phi.shape[1], expected, atol=0.04)


def test_waves_see_as_many_coordinates_as_asked_for():
    """And those of so many coordinates are a kernel of the same distance relative to what they see."""
    f, waves = features("fourier", dim=6_000, coordinates=(1, 2), bandwidths=(0.5, 1.0))
    weight = np.asarray(f.phi(waves).weight)
    each = (weight != 0).sum(0)
    np.testing.assert_array_equal(each, np.resize([1, 2], 6_000))
    assert (weight != 0).mean(1) == pytest.approx(1.5 / SPEC.obs_dim, abs=0.03)  # no coordinate is preferred
    for k, column, width in ((1, 0, 0.5), (2, 1, 0.5), (1, 2, 1.0), (2, 3, 1.0)):
        spread = np.sqrt(np.square(weight[:, column::4]).sum() / (1500 * k))
        assert spread == pytest.approx(1 / (width * (2 * k) ** 0.5), rel=0.05)


@pytest.mark.parametrize("coordinates", [1, 2, 0])
def test_waves_see_each_observation_alike_if_asked_to(coordinates):
    """A pose of seven numbers and one height: half of what a wave sees is the height."""
    spec = SPEC._replace(
        obs_dim=9, observation=("pose",) * 4 + ("height",) + ("pose",) * 4, matched=tuple(range(8))
    )
    alike = {"coordinates": (coordinates,), "state_by": "observation"}
    config = small_sfm("fourier", dim=8_000, bandwidths=(1.0,), **alike)
    weight = np.asarray(make_features(config.features, spec).init(rng()).weight)
    seen = np.square(weight).sum(1) if coordinates == 0 else (weight != 0).sum(1)
    share = seen / seen.sum()
    expected = {1: 1 / 2, 2: (1 / 2 + 1 / 2 * 7 / 13) / 2, 0: 1 / 2}[
        coordinates
    ]  # 2: as first, or after a pose
    assert share[4] == pytest.approx(expected, rel=0.05)
    np.testing.assert_allclose(np.delete(share, 4), (1 - share[4]) / 7, rtol=0.15)


@pytest.mark.parametrize("coordinates", [(), (1, 0)])
def test_steps_are_shares_beyond_thresholds_along_unit_directions(coordinates):
    """Narrow ones: their means are 1 - 2 F(b), and the thresholds b spread like the states."""
    f, steps = features("steps", dim=4_000, bandwidths=(1e-3,), coordinates=coordinates)
    weight, shift = np.asarray(f.phi(steps).weight), np.asarray(f.phi(steps).shift)
    steepness = np.linalg.norm(weight, axis=0)
    np.testing.assert_allclose(steepness, 1e3 / 2**0.5, rtol=1e-5)
    each = (weight != 0).sum(0)
    np.testing.assert_array_equal(each, np.resize([k or SPEC.obs_dim for k in coordinates or (0,)], 4_000))
    threshold = -shift / steepness
    assert threshold.std() == pytest.approx(1.2, rel=0.05)
    states = np.random.default_rng(1).standard_normal((2_000, SPEC.obs_dim)).astype(np.float32)
    beyond = (states @ (weight / steepness) > threshold).mean(0)
    np.testing.assert_allclose(np.asarray(f.phi(steps)(states)).mean(0), 2 * beyond - 1, atol=0.02)


def test_steps_point_to_the_expert_from_far_away():
    """The gap of means grows with the distance of two states, where that of waves comes round again."""
    f, steps = features("steps", dim=2_000, coordinates=(1, 0))
    far = np.linspace(0, 6, 7, dtype=np.float32)[:, None] * np.ones(SPEC.obs_dim, np.float32)
    phi = np.asarray(f.phi(steps)(far))
    gap = np.square(phi - phi[0]).mean(1)
    assert (np.diff(gap) > 0).all()


@pytest.mark.parametrize("method", ["fourier", "steps"])
def test_behaviours_with_equal_means_are_told_apart(method):
    """All mass at 0, or half at -2 and half at 2: a mean of states sees no difference."""
    f, waves = features(method, dim=512)
    still, swinging = np.zeros((2, 200, SPEC.obs_dim), np.float32)
    swinging[::2, 0], swinging[1::2, 0] = -2.0, 2.0
    phi = f.phi(waves)
    gap = np.square(phi(still).mean(0) - phi(swinging).mean(0)).mean()
    assert gap > 0.05
    assert np.square(phi(swinging[:100]).mean(0) - phi(swinging[100:]).mean(0)).mean() < 1e-10


def placed(demos, dim, spec=SPEC, **changes):
    """Landmarks, as the first update leaves them: states [N, o] -> [N, dim], and where they are."""
    f, state = features("landmarks", spec, dim=dim, **changes)
    state, phi, _ = jax.jit(f.learn)(state, random_batch(), demos)
    np.testing.assert_allclose(phi, f.phi(state)(random_batch().obs), rtol=1e-5)
    return f.phi(state), np.asarray(state.at)


def test_landmarks_are_spread_evenly_over_the_states_of_all_demonstrations():
    demos = random_demos((5, 3), padding=1e3)
    states = np.concatenate([np.asarray(demos.obs[0]), np.asarray(demos.obs[1, :4])])  # 6 and 4 of them
    np.testing.assert_array_equal(placed(demos, 10)[1], states)
    np.testing.assert_array_equal(placed(demos, 5)[1], states[1::2])
    np.testing.assert_array_equal(placed(demos, 20)[1], np.repeat(states, 2, 0))


def test_a_landmark_tells_how_near_it_is_in_units_of_the_distance_of_demonstrated_states():
    demos = random_demos((9,))
    phi, at = placed(demos, 10, bandwidths=(0.5, 2.0))
    apart = np.square(at[:, None] - at[None]).sum(-1)  # each pair, and each state with itself
    unit = np.sqrt(apart.mean() + 2 * SPEC.obs_dim * 0.1**2)  # no number's spread counts as nothing
    obs = np.random.default_rng(3).normal(size=(7, SPEC.obs_dim)).astype(np.float32)
    width = np.tile([0.5, 2.0], 5) * unit
    expected = 2 / (1 + np.square(obs[:, None] - at[None]).sum(-1) / width**2)
    np.testing.assert_allclose(phi(obs), expected, rtol=1e-4)
    np.testing.assert_allclose(np.diagonal(phi(at)), 2, rtol=1e-4)


def test_landmarks_see_each_observation_alike_if_asked_to():
    """Three numbers of a pose count together what one height does."""
    spec = SPEC._replace(observation=("pose", "pose", "height", "pose"))
    still = ExpertStates(jnp.zeros((1, 2, 4)), jnp.array([1]))
    phi, _ = placed(still, 1, spec, state_by="observation", bandwidths=(1.0,))
    moved = np.asarray(2 / phi(1e-3 * np.eye(4, dtype=np.float32)) - 1)[:, 0]
    np.testing.assert_allclose(moved / moved.sum(), [1 / 6, 1 / 6, 1 / 2, 1 / 6], rtol=1e-3)


def test_landmarks_tell_a_limp_from_a_walk():
    """Two legs swing as far and as often, in turn or together: no coordinate alone shows the difference."""
    t = np.linspace(0, 20 * np.pi, 400, dtype=np.float32)
    legs = [np.stack([np.sin(t), sign * np.sin(t), np.cos(t), sign * np.cos(t)], -1) for sign in (-1, 1)]
    walk, limp = legs
    phi, _ = placed(ExpertStates(jnp.asarray(walk[None]), jnp.array([399])), 32, bandwidths=(0.2, 0.7))
    apart, again = (
        np.square(np.asarray(phi(walk)).mean(0) - np.asarray(phi(other)).mean(0)).mean()
        for other in (limp, walk[::-1])
    )
    assert apart > 0.04
    assert again < 1e-8


def test_landmarks_point_to_the_expert_from_far_away():
    phi, at = placed(random_demos((9,)), 10, bandwidths=(0.2,))
    far = at.mean(0) + np.geomspace(2, 200, 7)[:, None] * np.ones(SPEC.obs_dim)
    near = np.asarray(phi(far.astype(np.float32))).mean(1)
    for closer, further in itertools.pairwise(near):
        assert closer > 1.5 * further > 0


def test_landmarks_lie_at_demonstrated_states_as_the_features_see_them():
    """Standardised with the newest moments, those of this update included."""
    objective = SFM(small_sfm("landmarks", dim=6), SPEC._replace(normalise="features"))
    demos, batch = random_demos((5,)), random_batch()
    batch = batch._replace(obs=3 * batch.obs + 7)
    after, _, _ = jax.jit(objective.update)(objective.init(rng()), context(batch, demos=demos))
    assert after.moments
    np.testing.assert_allclose(after.features.at, after.moments.standardise(demos.obs[0]), rtol=1e-5)
