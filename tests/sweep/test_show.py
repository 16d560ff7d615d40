"""How long a sweep still takes, as people are told."""

import pytest

from sfm.storage import write_json
from sfm.sweep.drive import Sweep
from sfm.sweep.estimate import START, seconds
from sfm.sweep.show import Show
from sfm.training.logs import JsonlLog
from tests.sweep.helpers import jobs


def stands(sweep: Sweep, name: str, step: int, took: float) -> None:
    JsonlLog(sweep.folder / name / "metrics.jsonl").write({"step": step, "seed": 0, "seconds": took})


@pytest.fixture
def sweep(tmp_path) -> Sweep:
    return Sweep(tmp_path, jobs(tmp_path, steps=100_000, seeds="0-3"))


def test_before_anything_is_known_sizes_tell(sweep):
    one = seconds(next(iter(sweep.jobs.values())).config)
    assert Show(sweep, 1).seconds_left() == pytest.approx(4 * one)
    assert Show(sweep, 2).seconds_left() == pytest.approx(2 * one)
    assert Show(sweep, 64).seconds_left() == pytest.approx(one)


def test_what_has_run_corrects_the_guess(sweep):
    first, second, *_ = sweep.jobs
    stands(sweep, first, 100_000, 1000 - START)
    sweep.set(first, "finished")
    assert Show(sweep, 1).seconds_left() == pytest.approx(3000, rel=1e-3)
    stands(sweep, second, 50_000, 500 - START)
    sweep.set(second, "running")
    assert Show(sweep, 1).seconds_left() == pytest.approx(2500, rel=1e-3)


def test_what_runs_tells_before_the_first_job_has_finished(sweep):
    first, *_ = sweep.jobs
    stands(sweep, first, 25_000, 100 - START)
    sweep.set(first, "running")
    assert Show(sweep, 1).seconds_left() == pytest.approx(300 + 3 * 400, rel=1e-3)


def test_people_are_told(sweep, capsys):
    first, second, third, fourth = sweep.jobs
    show = Show(sweep, 2)
    show.begin(names=True)
    assert "4 jobs, 4 seeds: 4 waiting; about" in capsys.readouterr().out
    JsonlLog(sweep.folder / first / "metrics.jsonl").write({"step": 1, "seed": 0, "eval/kept": 12.34})
    sweep.set(first, "finished")
    show.ended(first)
    assert capsys.readouterr().out == f"1/4  finished  {first}  seed 0: return 12.3\n"
    sweep.set(second, "failed", "no reason")
    show.ended(second)
    assert capsys.readouterr().out == f"2/4  failed  {second}  no reason\n"
    sweep.set(third, "running")
    assert show.summary().startswith("1 finished, 1 failed, 1 running, 1 waiting; about ")
    assert show.end(sweep.folder) == 1
    assert show.seconds_left() > 0
    for name in (second, third, fourth):
        sweep.set(name, "finished")
    assert show.end(sweep.folder) == 0
    assert "4 finished: " in capsys.readouterr().out


def test_jobs_of_earlier_plans_stay_in_the_table_if_they_have_begun(tmp_path):
    known = jobs(tmp_path, seeds="0-2")
    write_json(tmp_path / known[1].name / "config.json", {})
    sweep = Sweep(tmp_path, [known[0]], known)
    assert [row["job"] for row in sweep.rows()] == [known[1].name, known[0].name]
    assert [row["state"] for row in sweep.rows()] == ["stopped", "waiting"]
    assert sweep.those("stopped", "waiting") == [known[0].name]
