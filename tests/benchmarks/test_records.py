import gzip
import subprocess

import numpy as np
import pytest

from benchmarks import records
from sfm import storage
from sfm.config import overridden, setting, to_dict
from sfm.presets import preset

RUN = {
    "series": "s",
    "task": "t",
    "preset": "p",
    "changes": "",
    "seeds": 1,
    "commit": "1e10234",
    "machine": "m",
}


def rows(seed=1, kept=(1.0, 2.0), **more):
    return [RUN | {"seed": seed, "step": 10 * k, "kept": v} | more for k, v in enumerate(kept, 1)]


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_what_is_written_is_read(tmp_path, name):
    path = tmp_path / name
    records.write(path, rows())
    one, two = records.read(path)
    assert one == {k: v for k, v in RUN.items() if v != ""} | {"seed": 1, "step": 10, "kept": 1}
    assert two["kept"] == 2
    assert one["commit"] == "1e10234"  # not a number


def test_the_same_rows_give_the_same_bytes_in_any_order(tmp_path):
    made = rows(seed=10) + rows(seed=9)
    for name in ("a.csv.gz", "b.csv.gz"):
        records.write(tmp_path / name, made)
        made = made[::-1]
    first, second = ((tmp_path / name).read_bytes() for name in ("a.csv.gz", "b.csv.gz"))
    assert first == second
    assert first[4:8] == bytes(4)  # gzip's time stamp
    assert [row["seed"] for row in records.read(tmp_path / "a.csv.gz")] == [9, 9, 10, 10]
    assert gzip.decompress(first).startswith(b"series,task,preset,changes,seed,")


def test_a_run_that_is_put_again_replaces_its_rows_and_no_others(tmp_path):
    path = tmp_path / "deep" / "table.csv"
    records.put(path, rows(seed=1) + rows(seed=2))
    records.put(path, rows(seed=2, kept=(7.0,)) + rows(seed=1, changes="gamma=0.5"))
    told = [(row["seed"], row.get("changes", ""), row["kept"]) for row in records.read(path)]
    assert told == [(1, "", 1), (1, "", 2), (2, "", 7), (1, "gamma=0.5", 1), (1, "gamma=0.5", 2)]
    before = path.read_bytes()
    records.put(path, records.read(path))
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]


def test_columns_may_join_and_be_missing(tmp_path):
    path = tmp_path / "table.csv"
    records.put(path, rows(seed=1, kept=(1.0,)))
    records.put(path, [RUN | {"seed": 2, "step": 1, "kept": 123.45678, "likeness": 0.123456}])
    old, new = records.read(path)
    assert "likeness" not in old
    assert (new["kept"], new["likeness"]) == (123.457, 0.1235)
    assert path.read_text().splitlines()[0].endswith(",likeness")


def test_no_table_has_no_rows(tmp_path):
    assert records.read(tmp_path / "none.csv") == []


LOG = [
    {"step": 100, "seed": 3, "updates": 10, "train/return": 1.0, "seconds": 1.0},
    {"step": 100, "seed": 2, "updates": 10, "train/return": 8.0, "seconds": 1.0},
    {"step": 200, "seed": 3, "updates": 30, "train/return": 3.0, "seconds": 2.0},
    {"step": 200, "seed": 3, "updates": 30, "seconds": 2.0, "eval/kept": 5.0, "eval/current": 4.0},
    {"step": 300, "seed": 3, "updates": 50, "train/return": 7.0, "seconds": 3.0},
]


def test_a_log_becomes_evaluations_and_the_end_of_each_seed():
    other, judged, end = records.rows_of(LOG, RUN)
    assert (other["seed"], other["step"], other["training"]) == (2, 100, 8.0)
    assert {k: judged[k] for k in ("seed", "step", "updates", "seconds", "training", "kept", "current")} == {
        "seed": 3,
        "step": 200,
        "updates": 30,
        "seconds": 2.0,
        "training": 2.0,  # since the row before
        "kept": 5.0,
        "current": 4.0,
    }
    assert (end["step"], end["training"]) == (300, 7.0)
    assert "kept" not in end
    assert judged["series"] == "s"


def test_updates_of_older_logs_are_those_of_the_policies_that_were_judged():
    """They have evaluations in the rows of the rounds that these policies began."""
    row = LOG[2] | {"eval/kept": 5.0, "eval/current": 4.0, "eval/updates": 10}
    (judged,) = records.rows_of([LOG[0], row], RUN)
    assert (judged["step"], judged["updates"], judged["kept"], judged["training"]) == (200, 10, 5.0, 2.0)


def test_a_log_of_trials_keeps_every_round():
    assert [row["training"] for row in records.rows_of(LOG, RUN, every=True)] == [8.0, 1.0, 3.0, 7.0]


def test_final_tells_mean_and_spread():
    told = records.final(RUN, 4, np.array([1.0, 3.0]), expert=9.0)
    assert told == RUN | {
        "seed": 4,
        "episodes": 2,
        "mean": 2.0,
        "std": 1.0,
        "min": 1.0,
        "max": 3.0,
        "expert": 9.0,
    }


@pytest.mark.parametrize("name", ["fast", "sfm-td7"])
def test_changes_are_what_differs_from_the_preset_and_are_understood(name):
    usual = preset(name)
    assert records.changes(overridden(usual, {"task": "t", "seed": 5, "seeds": 2})) == ""
    told = records.changes(overridden(usual, {"gamma": 0.5, "learner.width": 7, "steps": 3}))
    assert told == "gamma=0.5 learner.width=7 steps=3"


def test_changes_name_what_would_be_ambiguous_by_more_than_one_word():
    changed = {"normalise": "none", "learner.width": 64, "lr_actor_final": None, "match_from": "start"}
    config = overridden(preset("fast"), changed)
    told = records.changes(config)
    assert told == "learner.width=64 lr_actor_final=null match_from=start normalise=none"
    assert overridden(preset("fast"), dict(map(setting, told.split()))) == config


def test_a_run_notes_the_commit_at_which_it_began(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "commit", lambda: "first")
    assert records.noted(tmp_path) == "first"
    monkeypatch.setattr(records, "commit", lambda: "second")
    assert records.noted(tmp_path) == "first"


def test_commit_says_when_the_code_is_not_as_committed(tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(
            ["git", "-C", tmp_path, "-c", "user.name=n", "-c", "user.email=e", *words],
            check=True,
            capture_output=True,
        )

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code").write_text("a")
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    monkeypatch.setattr(records, "ROOT", tmp_path)
    clean = records.commit()
    assert len(clean) == 7
    (tmp_path / "src" / "code").write_text("b")
    assert records.commit() == clean + "+"


def test_keep_takes_a_run_folder_or_figures(tmp_path):
    run, results = tmp_path / "run", tmp_path / "results"
    storage.write_json(run / "config.json", to_dict(overridden(preset("fast"), {"task": "t", "seeds": 2})))
    storage.write_bytes(run / "metrics.jsonl", "\n".join(map(storage.to_json, LOG)).encode())
    records.keep("mine", run, results)
    assert [(row["series"], row["preset"], row["seeds"]) for row in records.read(results / records.RUNS)] == [
        ("mine", "fast", 2)
    ] * 3
    storage.write_json(tmp_path / "bench.json", {"figures": {"flops/fast/least": 0.0481234, "a/b/c": 8451.0}})
    records.keep("speed-3", tmp_path / "bench.json", results)
    told = {row["figure"]: row["value"] for row in records.read(results / records.SPEED)}
    assert told == {"a/b/c": 8451, "flops/fast/least": 0.04812}


def test_runs_from_different_demonstrations_are_different_runs(tmp_path):
    path = tmp_path / "table.csv"
    records.put(path, rows(kept=(1.0,), demos="2") + rows(kept=(5.0,), demos="5"))
    records.put(path, rows(kept=(6.0,), demos="5"))
    assert [(row["demos"], row["kept"]) for row in records.read(path)] == [("2", 1), ("5", 6)]


def test_a_decision_that_follows_the_environment_is_no_change():
    config = overridden(preset("general"), {"action_repeat": 3, "gamma": 0.5})
    assert records.changes(config) == "gamma=0.5"
    assert records.changes(overridden(preset("fast"), {"action_repeat": 3})) == "action_repeat=3"
