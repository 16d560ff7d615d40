from benchmarks.learning import by_updates
from sfm import storage


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
