import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sfm.cli import main
from sfm.demos import load
from sfm.training.logs import read_rows

SETTINGS = {
    "preset": "fast",
    "steps": 160,
    "gamma": 0.9,
    "learner.width": 16,
    "objective.features.width": 16,
    "objective.features.dim": 8,
    "objective.features.head-width": 16,
    "schedule.envs": 1,
    "schedule.updates-per-step": 1.0,
    "schedule.random-steps": 40,
    "schedule.batch": 16,
    "schedule.chunk": 10,
    "schedule.replay": 1000,
    "schedule.eval-every": 80,
    "schedule.eval-episodes": 2,
    "schedule.save-seconds": 0,
}
QUICK = [word for name, value in SETTINGS.items() for word in (f"--{name}", str(value))]


def command(*args: str | Path) -> list[str]:
    return [sys.executable, "-m", "sfm.cli", *map(str, args)]


def sfm(*args: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*args), capture_output=True, text=True, timeout=300, **options)


def test_train_then_eval_leaves_all_that_is_promised(tmp_path, point_file):
    run = tmp_path / "run"
    done = sfm("train", "probe_point", "--demos", point_file, "--run", run, *QUICK)
    assert done.returncode == 0, done.stderr
    assert "step       160" in done.stdout
    assert "over 20 episodes" in done.stdout  # five, as along the way, tell too little
    files = {str(p.relative_to(run)) for p in run.rglob("*") if p.is_file()}
    assert files >= {
        "config.json",
        "demos.npz",
        "metrics.jsonl",
        "curve.png",
        "video.mp4",
        "video.gif",
        "policies/kept_seed0.safetensors",
        "policies/current_seed0.safetensors",
    }
    again = sfm("eval", run, "--episodes", "3", "--no-video")
    assert again.returncode == 0, again.stderr
    assert "over 3 episodes" in again.stdout
    collect = "demos", "collect", run, tmp_path / "own.npz", "--count", "1", "--candidates", "2"
    kept = sfm(*collect)
    assert kept.returncode == 0, kept.stderr
    assert "all 2:" in kept.stdout
    assert load(tmp_path / "own.npz").obs.shape == (1, 21, 1)
    assert "exists: choose another name, or overwrite it with --force" in sfm(*collect).stderr


def test_ctrl_c_saves_and_resume_goes_on(tmp_path, point_file):
    run = tmp_path / "run"
    args = ("train", "probe_point", "--demos", point_file, "--run", run, *QUICK, "--steps", "100000")
    child = subprocess.Popen(command(*args, "--no-video"), stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(run.glob("checkpoints/*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 130
    assert f"sfm resume {run}" in out
    reached = read_rows(run / "metrics.jsonl")[-1]["step"]
    done = sfm("resume", run, "--no-video", "--steps", str(reached + 40))
    assert done.returncode == 0, done.stderr
    assert f"resumed {run} at step {reached:,}" in done.stdout
    assert read_rows(run / "metrics.jsonl")[-1]["step"] == reached + 40
    forked = sfm("fork", run, tmp_path / "new", "gamma=0.5", f"steps={reached + 80}", "--no-video")
    assert forked.returncode == 0, forked.stderr
    assert read_rows(tmp_path / "new" / "metrics.jsonl")[-1]["step"] == reached + 80


def says(capsys, *args: str | Path) -> str:
    """What a failing command prints: one line on stderr, no traceback, exit status 1."""
    assert main([str(a) for a in args]) == 1
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_an_unknown_task_suggests_the_nearest(capsys, point_file):
    assert "walker_walk" in says(capsys, "train", "walker_wlak", "--demos", point_file)


def test_an_unknown_command_suggests_the_nearest(capsys):
    assert "did you mean train" in says(capsys, "tran")


def test_an_unknown_preset_suggests_the_nearest(capsys):
    assert "sfm-td7" in says(capsys, "train", "walker_walk", "--preset", "sfm-td77")


@pytest.mark.parametrize(
    ("obs", "message"),
    [
        (np.zeros((50, 3), np.float32), "states have 3 dimensions, the environment has 1"),
        (np.full((50, 1), np.nan, np.float32), "NaN"),
        (np.full((50, 1), np.inf, np.float32), "infinite"),
        (np.zeros((0, 1), np.float32), "demonstration"),
        (np.zeros((1, 1), np.float32), "at least 2 states"),
        (np.array([["a"], ["b"]]), "numbers"),
    ],
)
def test_demonstrations_that_do_not_fit(capsys, tmp_path, obs, message):
    path, run = tmp_path / "bad.npz", tmp_path / "run"
    np.savez(path, obs=obs)
    assert message in says(capsys, "train", "probe_point", "--demos", path, "--run", run)
    assert not run.exists()


def test_a_run_that_exists_is_not_overwritten(capsys, tmp_path, point_file):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious.txt").write_text("mine")
    args = ("train", "probe_point", "--demos", point_file, "--run", tmp_path / "run")
    said = says(capsys, *args)
    assert "already exists: choose another folder" in said
    assert "resume" not in said  # it is no run
    assert (tmp_path / "run" / "precious.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written(capsys, tmp_path, point_file):
    (tmp_path / "file").write_text("")
    args = ("train", "probe_point", "--demos", point_file, "--run", tmp_path / "file" / "run")
    assert "could not write" in says(capsys, *args)


def test_a_full_disk_ends_the_run_and_keeps_the_last_checkpoint(tmp_path, point_file):
    """A real limit of the operating system on the size of a file, hit when the replay has grown."""
    run = tmp_path / "run"
    args = command("train", "probe_point", "--demos", point_file, "--run", run, *QUICK)
    args += ["--steps", "40000", "--schedule.replay", "20000", "--no-video"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 60; exec "$@"', "limited", *args],  # kilobytes
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "SFM_CACHE": "/dev/null/none"},
    )
    assert done.returncode == 1, done.stderr
    assert "could not write" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    from sfm.training.checkpoint import Checkpoints

    assert Checkpoints(run / "checkpoints").load()[0] > 0


def test_random_actions_are_evaluated_on_a_task(capsys):
    """On the probe, 20 steps of a reward between -2.25 and 0; the same seed gives the same return."""
    for _ in range(2):
        assert main(["eval", "probe_point", "--random", "--episodes", "50"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert first.startswith("random actions: return -")
    assert first.endswith("over 50 episodes")
    assert -45 < float(first.split()[3]) < -4  # the best policy's is near -2
    assert "probe_point" in says(capsys, "eval", "probe_pont", "--random")


def test_a_preset_says_what_it_learns_from(capsys, point_file):
    assert main(["presets"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["bc"].endswith("from states and actions")
    assert lines["bco"].endswith("from states")
    assert lines["expert-td3"].endswith("from the reward")
    message = says(capsys, "train", "probe_point", "--demos", point_file, "--warm-start", "bc")
    assert message.startswith("error: --warm-start bc needs the expert's actions")


def test_debug_shows_the_traceback():
    done = sfm("train", "walker_wlak", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_bad_configuration_is_one_line(capsys, point_file):
    assert "gamma must lie in" in says(capsys, "train", "probe_point", "--demos", point_file, "--gamma", "2")


def test_help_is_quick_and_teaches():
    begin = time.perf_counter()
    done = sfm("--help")
    assert time.perf_counter() - begin < 5
    assert "train" in done.stdout
    assert "resume" in done.stdout
    help_train = sfm("train", "--help").stdout
    for word in ("--demos", "--preset", "--learner.lr-actor", "--objective.features.method", "--seeds"):
        assert word in help_train


def test_presets_and_tasks_are_listed(capsys):
    assert main(["presets"]) == 0
    assert main(["tasks"]) == 0
    out = capsys.readouterr().out
    assert "sfm-td7" in out
    assert "quadruped_jump" in out


def test_who_reads_may_stop_early():
    with subprocess.Popen(command("presets"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()  # as `head` does
        assert child.stderr.read() == b""
        assert child.wait(timeout=60) == 141


def test_a_backend_that_does_not_work_is_named():
    done = sfm("train", "walker_walk", env=os.environ | {"MUJOCO_GL": "bogus"})
    assert done.returncode == 1
    assert done.stderr.startswith("error: MUJOCO_GL=bogus does not work here")
    assert "Traceback" not in done.stderr


def test_too_large_a_replay_is_named(capsys, tmp_path, point_file):
    huge = "--schedule.replay", "9999999999999", "--run", tmp_path / "run"
    assert "out of memory" in says(capsys, "train", "probe_point", "--demos", point_file, *QUICK, *huge)


def test_a_missing_package_is_named_before_anything_is_written(capsys, tmp_path, point_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    words = "train", "probe_point", "--demos", point_file, "--wandb", "--run", tmp_path / "run"
    assert "pip install 'successor-feature-matching[wandb]'" in says(capsys, *words)
    assert not (tmp_path / "run").exists()
