"""Runs of the command that take seconds, and what it says when it fails."""

import subprocess
import sys
from pathlib import Path

from sfm.cli import main

__all__ = ["QUICK", "command", "says", "sfm"]

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
    return [sys.executable, "-m", "sfm", *map(str, args)]


def sfm(*args: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*args), capture_output=True, text=True, timeout=300, **options)


def says(capsys, *args: str | Path) -> str:
    """What a failing command prints: one line on stderr, no traceback, exit status 1."""
    assert main([str(a) for a in args]) == 1
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    return captured.err
