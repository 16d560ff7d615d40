"""What `sfm sweep` refuses, and what it tells before it begins."""

import pytest

from sfm.cli import main
from tests.cli.helpers import says

TASK = ("--tasks", "walker_walk")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "the plan has no jobs: give tasks and seeds"),
        (("nowhere.toml",), "nowhere.toml not found"),
        (("--tasks", "walker_wlak"), "unknown task 'walker_wlak': did you mean walker_walk"),
        ((*TASK, "--presets", "fasst"), "unknown preset 'fasst': did you mean fast"),
        ((*TASK, "--seeds", "1", "0-2"), "a job is twice in the plan"),
        ((*TASK, "--demos", "nowhere/{seed}.npz"), "demonstrations not found: 'nowhere/0.npz'"),
        ((*TASK, "--demo", "99"), "there is no demonstration 99"),
        (("--tasks", "probe_point"), "no demonstrations for 'probe_point'"),
        ((*TASK, "--workers", "0"), "--workers must be at least 1"),
        ((*TASK, "--together", "-1"), "--together must not be negative"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in says(capsys, "sweep", *words)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").touch()
    assert main(["sweep", *TASK, "--folder", str(tmp_path / "file" / "sweep")]) == 1
    assert "could not write" in capsys.readouterr().err


def test_a_dry_run_tells_and_writes_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = "tasks = ['walker_walk']\nseeds = '0-9'\n[changes]\nslow = 'n_step=1'\n"
    (tmp_path / "plan.toml").write_text(plan)
    assert main(["sweep", "plan.toml", "--seeds", "0-3", "--together", "2", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "2 jobs, 4 seeds: 2 waiting; about" in told
    assert "walker_walk_general_slow_seed0-1" in told
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


def test_the_preset_as_it_is_may_be_one_of_the_variants(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *TASK, "--changes", "", "n_step=1", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "walker_walk_general_seed0" in told
    assert "walker_walk_general_n_step=1_seed0" in told
