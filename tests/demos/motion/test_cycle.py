"""Periods of known signals, and what becomes of a motion that repeats."""

import numpy as np
import pytest

from sfm.demos.motion import cycle

STEP = 0.02


def stride(times, period=1.1):
    """Both legs: the same motion, half a period apart, with an overtone."""
    phase = 2 * np.pi * times / period
    return np.stack(
        [np.sin(phase) + 0.3 * np.cos(2 * phase), np.sin(phase + np.pi) + 0.3 * np.cos(2 * phase)], 1
    )


@pytest.mark.parametrize("period", [0.4, 0.83, 1.1, 1.234])
def test_the_period_is_that_of_a_stride_not_of_a_step_or_of_several(period):
    times = np.arange(0, 4, STEP)
    found = cycle.period(stride(times, period), STEP)
    assert found is not None
    assert found.seconds == pytest.approx(period, abs=0.004)
    assert found.difference < 0.01


def test_legs_that_mostly_move_together_still_have_the_period_of_a_stride():
    times = np.arange(0, 4, STEP)
    swing, together = 0.5 * np.sin(2 * np.pi * times), np.sin(4 * np.pi * times)
    found = cycle.period(np.stack([together + swing, together - swing], 1), STEP)
    assert found is not None
    assert found.seconds == pytest.approx(1, abs=0.004)


def test_noise_does_not_hide_it_and_noise_alone_has_none():
    rng = np.random.default_rng(0)
    times = np.arange(0, 6, STEP)
    found = cycle.period(stride(times) + 0.3 * rng.standard_normal((300, 2)), STEP)
    assert found is not None
    assert found.seconds == pytest.approx(1.1, abs=0.03)
    nothing = cycle.period(rng.standard_normal((300, 2)), STEP)
    assert nothing is None or nothing.difference > 0.6


def test_what_is_too_short_or_still_has_no_period():
    assert cycle.period(stride(np.arange(0, 0.3, STEP)), STEP) is None
    assert cycle.period(np.ones((100, 2)), STEP) is None
    assert cycle.period(np.arange(100.0)[:, None], STEP) is None


def test_a_loop_goes_on_as_the_motion_would_and_drifts_where_it_may():
    times, later = np.arange(0, 2.5, STEP), np.array([0.0, 0.613, 7.77, 25.0])

    def motion(at):
        return np.concatenate([stride(at), 1.5 * at[:, None] + 0.1 * stride(at)[:, :1]], 1)

    found = cycle.looped(motion(times), STEP, 1.1, later, np.array([False, False, True]))
    np.testing.assert_allclose(found, motion(later), atol=2e-3)


def test_a_loop_has_no_seam():
    rng = np.random.default_rng(0)
    times = np.arange(0, 2.4, STEP)
    values = stride(times) + 0.02 * rng.standard_normal((len(times), 2)) + 0.05 * times[:, None]
    dense = cycle.looped(values, STEP, 1.1, np.arange(0, 3, 0.001), np.zeros(2, bool))
    np.testing.assert_allclose(dense[1100], dense[0], atol=1e-6)
    assert np.abs(np.diff(dense, 2, axis=0)).max() < 3e-4


def test_no_more_harmonics_than_the_frames_tell():
    values = np.random.default_rng(0).standard_normal((9, 1))
    found = cycle.looped(values, 0.1, 0.8, np.arange(0, 2, 0.01), np.zeros(1, bool))
    assert np.abs(found).max() < 2 * np.abs(values).max()


def test_samples_between_frames_are_cubic():
    times, between = np.arange(0, 1, STEP), np.array([0.0, 0.031, 0.5, 0.98])
    found = cycle.sampled(np.stack([np.sin(4 * times), times], 1), STEP, between)
    np.testing.assert_allclose(found[:, 0], np.sin(4 * between), atol=2e-4)
    np.testing.assert_allclose(found[:, 1], between, atol=1e-12)
    np.testing.assert_allclose(
        cycle.sampled(times[:, None], STEP, np.array([-1.0, 9.0]))[:, 0], [0, times[-1]]
    )
