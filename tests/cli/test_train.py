"""What `sfm train` leaves, refuses and hands to the library."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from sfm import api
from sfm.cli import main
from sfm.config import overridden
from sfm.demos import Demos, load
from sfm.demos.doctor.before import before_training
from sfm.envs import make
from sfm.presets import DEFAULT, preset
from tests.cli.helpers import QUICK, command, says, sfm


def test_train_then_eval_leaves_all_that_is_promised(tmp_path, point_file, capsys):
    run = tmp_path / "run"
    done = sfm("train", "probe_point", "--demos", point_file, "--run", run, *QUICK)
    assert done.returncode == 0, done.stderr
    assert "step       160" in done.stdout
    assert "over 20 episodes" in done.stdout  # five, as along the way, tell too little
    assert done.stdout.count(" likeness ") == 3  # two evaluations along the way, and the last
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
    assert main(["eval", str(run), "--episodes", "3", "--no-video"]) == 0
    assert "over 3 episodes" in capsys.readouterr().out
    collect = ["demos", "collect", str(run), str(tmp_path / "own.npz"), "--count", "1", "--candidates", "2"]
    assert main(collect) == 0
    assert "all 2:" in capsys.readouterr().out
    assert load(tmp_path / "own.npz").obs.shape == (1, 21, 1)
    assert "exists: choose another name, or overwrite it with --force" in says(capsys, *collect)


def test_an_unknown_task_suggests_the_nearest(capsys, point_file):
    assert "walker_walk" in says(capsys, "train", "walker_wlak", "--demos", point_file)


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


def test_bad_configuration_is_one_line(capsys, point_file):
    assert "learner.width must be at least 1, not 0" in says(capsys, "train", "--learner.width", "0")
    assert "gamma must lie in" in says(capsys, "train", "probe_point", "--demos", point_file, "--gamma", "2")


@pytest.mark.parametrize("task", ["walker_walk", "Hopper-v5"])
def test_a_backend_that_does_not_work_is_named_and_costs_the_video_alone(task):
    code = f"""
from sfm.envs import make
from sfm.errors import SfmError
env = make({task!r})
env.reset(0)
env.step([0.0] * env.action_dim)
try:
    env.render()
except SfmError as error:
    print(error)
"""
    world = os.environ | {"MUJOCO_GL": "bogus"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=world)
    assert done.stdout.startswith("cannot render: MUJOCO_GL=bogus does not work here."), done.stderr


def test_too_large_a_replay_is_named(capsys, tmp_path, point_file):
    huge = "--schedule.replay", "9999999999999", "--run", tmp_path / "run"
    assert "out of memory" in says(capsys, "train", "probe_point", "--demos", point_file, *QUICK, *huge)


def test_a_missing_package_is_named_before_anything_is_written(capsys, tmp_path, point_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    words = "train", "probe_point", "--demos", point_file, "--wandb", "--run", tmp_path / "run"
    assert "pip install 'successor-feature-matching[wandb]'" in says(capsys, *words)
    assert not (tmp_path / "run").exists()


def test_options_become_a_configuration_for_the_library(monkeypatch, point_file):
    """The command line has no road of its own."""
    seen = {}

    def train(**given):
        seen.update(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "train", train)
    words = "--preset=sfm-td7", "--gamma", "0.5", "--learner.embedding", "7", "--seeds", "3", "--no-video"
    assert main(["train", "probe_point", "--demos", str(point_file), "--demo", "1", *words]) == 130
    assert seen["demos"] == point_file
    assert seen["demo"] == 1
    asked = {"task": "probe_point", "gamma": 0.5, "embedding": 7, "seeds": 3}
    assert seen["config"] == overridden(preset("sfm-td7"), asked)
    assert main(["train", "--steps", "50", "--schedule.steps", "60", "--warm-start", "bc"]) == 130
    asked = {"task": "walker_walk", "steps": 50, "warm_start": "bc"}
    assert seen["config"] == overridden(preset(DEFAULT), asked)


def test_every_option_is_explained():
    lines = sfm("train", "--help").stdout.replace("│", " ").splitlines()
    options = [i for i, line in enumerate(lines) if line.strip().startswith("--")]
    assert len(options) > 70
    assert [lines[i] for i in options if lines[i + 1].strip().startswith("(default")] == []


def test_the_doctor_comes_first(capsys, tmp_path):
    """Its errors refuse, in one line that says what to do; its warnings take three lines at most."""
    healthy, run = load("walker_walk").obs[0], tmp_path / "run"
    order = np.random.default_rng(0).permutation(24)
    for obs, what in (
        (healthy[:, order], "cosine and sine|outside|times larger"),
        (healthy * 1e30, "outside"),
    ):
        np.savez(tmp_path / "bad.npz", obs=obs)
        said = says(capsys, "train", "walker_walk", "--demos", tmp_path / "bad.npz", "--run", run)
        assert re.search(what, said)
        assert "To train all the same: --force" in said
        assert not run.exists()
    told = []
    env = make("walker_walk")
    before_training(Demos.from_list([healthy[:, order]]), env, preset("fast"), told.append, force=True)
    assert len(told) == 3
    assert re.match("error: .*", told[0])
    assert re.match(r"and \d more: see 'sfm demos doctor'", told[2])
    told.clear()
    before_training(Demos.from_list([healthy[300:]]), env, preset("fast"), told.append, force=False)
    assert len(told) == 1
    assert told[0].startswith("warning: 'walker_walk' never starts")
    before_training(Demos.from_list([healthy]), env, preset("fast"), pytest.fail, force=False)


def test_steps_as_people_write_them(monkeypatch):
    seen = []

    def train(**given):
        seen.append(given["config"].schedule.steps)
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "train", train)
    for text in ("20000", "2e4", "20,000"):
        assert main(["train", "probe_point", "--steps", text]) == 130
    assert seen == [20_000] * 3
