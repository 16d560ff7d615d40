"""The table of a sweep, from run folders alone."""

import csv

from sfm.evaluation.scores import normalised
from sfm.sweep.jobs import Job
from sfm.sweep.table import COLUMNS, rows_of, standing, state_of, write
from sfm.training.logs import JsonlLog

JOB = Job("two", "walker_walk", "fast", "wide", {}, None, 1, seed=3, seeds=2)


def logged(folder) -> None:
    log = JsonlLog(folder / "metrics.jsonl")
    for seed in (3, 4):
        log.write({"step": 100, "seed": seed, "eval/kept": 500.0, "likeness/kept": 0.5, "seconds": 30.0})
        log.write({"step": 400, "seed": seed, "eval/kept": 800.0 + seed, "seconds": 90.0})
        log.write({"step": 500, "seed": seed, "seconds": 120.0})


def test_a_row_for_each_seed(tmp_path):
    logged(tmp_path / "two")
    rows = rows_of(JOB, tmp_path / "two", "failed", "no reason")
    write(tmp_path, rows)
    with open(tmp_path / "jobs.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == COLUMNS
    assert first == {
        "job": "two",
        "task": "walker_walk",
        "preset": "fast",
        "changes": "wide",
        "demos": "bundled",
        "demo": "1",
        "seed": "3",
        "state": "failed",
        "steps": "500",
        "return": "803.0",
        "score": f"{normalised('walker_walk', 803.0):.4f}",
        "likeness": "0.5",
        "minutes": "2.0",
        "error": "no reason",
    }
    assert (second["seed"], second["return"]) == ("4", "804.0")


def test_a_job_that_has_not_begun_has_no_return(tmp_path):
    first, _ = rows_of(JOB, tmp_path / "two", "waiting")
    assert (first["state"], first["steps"], first["return"], first["score"]) == ("waiting", 0, None, None)


def test_a_log_that_cannot_be_read_is_told_and_hides_no_other_job(tmp_path):
    (tmp_path / "metrics.jsonl").write_text("{\n{}\n")
    assert "not valid JSON" in rows_of(JOB, tmp_path, "stopped")[0]["error"]


def test_where_a_run_stands(tmp_path):
    assert standing(tmp_path) == (0, None, 0.0)
    logged(tmp_path)
    log = JsonlLog(tmp_path / "metrics.jsonl")
    for step in range(600, 60_000, 100):  # more than the end of it that is read
        log.write({"step": step, "seed": 3, "eval/kept": float(step), "seconds": step / 10})
    with open(log.path, "a") as file:
        file.write('{"step": 70')  # torn
    assert standing(tmp_path) == (59_900, 59_900.0, 5_990.0)


def test_the_state_of_a_folder(tmp_path):
    assert state_of(tmp_path) == "waiting"
    (tmp_path / "config.json").touch()
    assert state_of(tmp_path) == "stopped"
    (tmp_path / ".finished").touch()
    assert state_of(tmp_path) == "finished"
