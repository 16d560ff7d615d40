import pytest

from sfm.presets import PRESETS, preset
from sfm.sweep.estimate import correction, in_words, seconds


def test_guesses_are_of_the_right_size():
    """Minutes that were measured on two cores (README, docs/findings-speed.md)."""
    assert 100 < seconds(preset("fast")) < 250
    assert 1e5 < seconds(preset("sfm-td3")) < 4e5
    assert 3.5 < seconds(preset("fast", seeds=5)) / seconds(preset("fast")) < 4.5


def test_guesses_are_corrected_by_what_was_measured():
    assert correction([]) == 1.0
    assert correction([(10.0, 5.0), (30.0, 15.0)]) == 0.5


@pytest.mark.parametrize(
    ("span", "words"),
    [(4, "4 s"), (89, "89 s"), (600, "10 min"), (5400, "1.5 h"), (72_000, "20 h"), (259_200, "3.0 days")],
)
def test_spans_in_words(span, words):
    assert in_words(span) == words


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_guess(name):
    assert seconds(preset(name)) > 60
