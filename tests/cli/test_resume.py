"""A run that was stopped goes on, itself or as a fork."""

import signal
import subprocess
import time
from pathlib import Path

from sfm import api
from sfm.cli import main
from sfm.training.logs import read_rows
from tests.cli.helpers import QUICK, command


def test_ctrl_c_saves_and_resume_goes_on(tmp_path, point_file, capsys):
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
    assert main(["resume", str(run), "--no-video", "--steps", str(reached + 40)]) == 0
    assert f"resumed {run} at step {reached:,}" in capsys.readouterr().out
    assert read_rows(run / "metrics.jsonl")[-1]["step"] == reached + 40
    settings = "gamma=0.5", f"steps={reached + 80}"
    assert main(["fork", str(run), str(tmp_path / "new"), *settings, "--no-video"]) == 0
    assert read_rows(tmp_path / "new" / "metrics.jsonl")[-1]["step"] == reached + 80


def test_resume_and_fork_go_through_the_library(monkeypatch, tmp_path):
    seen = []

    def note(*args, **given):
        seen.append((args, given))
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "resume", note)
    monkeypatch.setattr(api, "fork", note)
    assert main(["resume", str(tmp_path), "--steps", "7", "--tensorboard"]) == 130
    assert main(["fork", str(tmp_path), "new", "learner.lr_actor=1e-3", "tail=truncate"]) == 130
    (resumed, how), (forked, _) = seen
    assert resumed == (tmp_path,)
    assert {"steps": 7, "tensorboard": True, "wandb": False}.items() <= how.items()
    assert forked == (tmp_path, Path("new"), {"learner.lr_actor": 1e-3, "tail": "truncate"})
