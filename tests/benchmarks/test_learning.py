import pytest

from benchmarks.learning import by_updates, open_run
from sfm import storage
from sfm.errors import SfmError


def test_curves_are_read_off_at_equal_updates(tmp_path):
    """Seed 0 is evaluated at 5,000, 15,000 and 25,000 updates, seed 1 five thousand later, up to 20,000."""
    rows = [{"step": 1, "seed": 0, "updates": 0}]
    for seed, returns in ((0, [0.0, 100.0, 300.0]), (1, [50.0, 150.0])):
        for k, value in enumerate(returns):
            updates = 5_000 + 5_000 * seed + 10_000 * k
            row = {"step": k, "seed": seed, "updates": updates + 900}
            rows.append(row | {"eval/updates": updates, "eval/checkpoint": value})
    storage.write_bytes(tmp_path / "a" / "metrics.jsonl", "\n".join(map(storage.to_json, rows)).encode())
    header, _, line = by_updates([tmp_path / "a"]).splitlines()
    assert header == "| updates | 10,000 | 20,000 |"
    assert line == "| a | 50 | 175 |"
    assert by_updates([tmp_path / "a"], every=4_000).splitlines()[2].startswith("| a |  |  | 70 |")


def test_a_run_of_other_settings_is_not_taken_for_this_one(tmp_path):
    changes = {"task": "probe_point", "steps": 10}
    open_run(tmp_path / "run", "expert-td3", changes)
    assert open_run(tmp_path / "run", "expert-td3", changes).config.task == "probe_point"
    with pytest.raises(SfmError, match="begun with other settings"):
        open_run(tmp_path / "run", "expert-td3", changes | {"gamma": 0.5})
