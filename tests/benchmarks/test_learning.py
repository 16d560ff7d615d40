import math

import numpy as np
import pytest

from benchmarks import learning, records
from benchmarks.learning import Options, open_run, train
from sfm import storage
from sfm.errors import SfmError
from sfm.evaluation.evaluate import Judged


def test_a_run_of_other_settings_is_not_taken_for_this_one(tmp_path):
    changes = {"task": "probe_point", "steps": 9000}
    open_run(tmp_path / "run", "expert-td3", changes)
    assert open_run(tmp_path / "run", "expert-td3", changes).config.task == "probe_point"
    with pytest.raises(SfmError, match="begun with other settings"):
        open_run(tmp_path / "run", "expert-td3", changes | {"gamma": 0.5})


@pytest.fixture
def options(tmp_path, monkeypatch):
    """Of runs that are not trained: one row of a log and two episodes at the end for each seed."""

    def go_on(run, folder):
        row = {"step": 40, "seconds": 2.0, "eval/kept": 3.0, "eval/current": 1.0, "updates": 7}
        rows = [row | {"seed": seed} for seed in (4, 5)]
        storage.write_bytes(folder / "metrics.jsonl", "\n".join(map(storage.to_json, rows)).encode())

    monkeypatch.setattr(learning, "go_on", go_on)
    monkeypatch.setattr(
        learning.api, "finish", lambda *_, **__: {s: Judged(np.array([s, 10.0]), math.nan) for s in (4, 5)}
    )
    changed = ["gamma=0.5"]
    return Options(
        "mine", seed=4, seeds=2, steps=9_000, change=changed, runs=tmp_path, results=tmp_path / "kept"
    )


def test_a_run_goes_into_the_tables_once(options):
    for _ in range(2):
        rows, finals = train(options, "probe_point", "expert-td3")
    kept, ends = (records.read(options.results / name) for name in (records.RUNS, records.FINALS))
    assert [row["seed"] for row in kept] == [row["seed"] for row in ends] == [4, 5]
    assert kept[0] == rows[0] | {"kept": 3, "current": 1, "seconds": 2}
    assert kept[0]["changes"] == "gamma=0.5 steps=9000"
    assert [(end["mean"], end["episodes"], end["step"]) for end in ends] == [(7, 2, 40), (7.5, 2, 40)]
    told = "python -m benchmarks.learning --series mine --tasks probe_point --presets expert-td3"
    assert (
        ends[0]["command"]
        == finals[0]["command"]
        == f"{told} --seed 4 --seeds 2 --steps 9000 --change gamma=0.5"
    )


def test_a_run_that_is_stopped_leaves_what_it_had(options, monkeypatch):
    trained = learning.go_on

    def stopped(run, folder):
        trained(run, folder)
        raise SfmError("stopped")

    monkeypatch.setattr(learning, "go_on", stopped)
    with pytest.raises(SfmError, match="stopped"):
        train(options, "probe_point", "expert-td3")
    assert len(records.read(options.results / records.RUNS)) == 2
    assert not (options.results / records.FINALS).exists()
