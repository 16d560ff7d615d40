"""What `sfm tasks` and `sfm demos inspect` show of an environment."""

import io

import pytest
from rich.console import Console
from rich.table import Table

from sfm.cli import main
from sfm.cli.screen import whole


@pytest.mark.parametrize("task", ["walker_walk", "quadruped_run"])
def test_names_and_numbers_are_whole_in_80_columns(task, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["tasks", task]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert main(["demos", "inspect", task, "--task", task]) == 0
    inspected = capsys.readouterr().out
    last = {"walker_walk": "velocity/left_ankle ", "quadruped_run": "force_torque/torque_toe_back_left.z "}[
        task
    ]
    for text in (shown, inspected):
        assert "\u2026" not in text
        assert sum(last in line and "." in line.split(last)[1] for line in text.splitlines()) == 1


def test_what_does_not_fit_is_not_cut():
    table = Table("name", "value")
    table.add_row("x" * 50, "y" * 50)
    console = Console(file=io.StringIO(), width=60)
    whole(console, table)
    lines = console.file.getvalue().splitlines()  # pyright: ignore[reportAttributeAccessIssue]
    assert any("x" * 50 in line and "y" * 50 in line for line in lines)
    assert console.width == 60


def test_what_is_shown_of_an_environment(capsys):
    assert main(["tasks", "Pendulum-v1"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Pendulum-v1: 3 observations, 1 actions\n")
    row = next(line.split() for line in text.splitlines() if "obs[2]" in line)
    assert row[:4] == ["2", "obs[2]", "-8", "8"]
    assert -8 <= float(row[4]) < float(row[5]) <= 8
    assert "time limit 200 steps (6.667 s); episodes may end early\ncontrol rate 30 per second\n" in text


def test_a_rate_that_nobody_told_is_called_so(capsys):
    assert main(["tasks", "tests.envs.own_worlds:OwnSlide-v0"]) == 0
    assert "control rate 30 per second, assumed: its metadata has no render_fps" in capsys.readouterr().out
    assert main(["tasks", "probe_point"]) == 0
    assert "control rate 10 per second\n" in capsys.readouterr().out
