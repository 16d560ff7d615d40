"""The page of all options says what the code does."""

from benchmarks import options
from sfm.config import Config
from sfm.presets import PRESETS


def test_the_page_of_options_is_fresh():
    assert options.PAGE.read_text() == options.page(), "stale: run `python -m benchmarks.options`"


def test_the_page_has_every_option_of_every_kind():
    page = options.page()
    for config in PRESETS.values():
        for place, _ in options.flat(options.to_dict(config)):
            assert place.endswith("kind") or f"| `{place}` |" in page
    assert "| `learner.width` | int, must be at least 1 | `256` | Each hidden layer" in page
    assert "| `objective.critics` | `1` or `2` | `2` |" in page
    assert "| `learner.lr_actor_final` | float or none, must be positive | `none` |" in page


def test_what_a_preset_changes():
    assert options.changed(Config()) == {}
    assert options.changed(PRESETS["sfm-td3"]) == {"gamma": 0.995}
    assert options.changed(PRESETS["sfm-td7"]) == {
        "objective.features.lr": 1e-4,
        "objective.bootstrap": "online",
    }
    assert "\n- `sfm-td3`, `td3` and `sfm`: gamma=0.995\n" in options.page()
