"""`sfm runs`, `sfm compare` and `sfm report` on real runs."""

import json
import subprocess
import sys

import pytest

from sfm.cli import main
from tests.cli.helpers import says
from tests.report.conftest import copy, real, write_rows  # noqa: F401


@pytest.fixture
def folder(copy, tmp_path):  # noqa: F811
    """Two runs and what is left of a third."""
    copy("runs/low")
    copy("runs/high", gain=10.0, gamma=0.8)
    write_rows(copy("runs/empty"), [])
    return tmp_path / "runs"


def test_runs_are_listed_and_sorted(folder, capsys):
    assert main(["runs", str(folder), "--sort=-return"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0].rpartition("/")[2] for line in lines[1:4]] == ["high", "low", "empty"]
    assert lines[4] == "3 runs: 3 finished"
    assert main(["runs", str(folder), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["return"] is None for row in rows] == [True, False, False]
    assert rows[1]["changes"].startswith("gamma=0.8")


def test_no_jax_is_imported(folder, tmp_path):
    out = str(tmp_path / "out")
    calls = [
        ["runs", str(folder)],
        ["compare", str(folder), "--out", out],
        ["report", str(folder), "--out", out],
    ]
    code = f"import sys; from sfm.cli import main; [main(c) for c in {calls}]; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_comparing_prints_tables_and_draws_curves(folder, capsys, tmp_path):
    assert (
        main(["compare", str(folder), "--by", "gamma", "--x", "updates", "--out", str(tmp_path / "c.png")])
        == 0
    )
    printed = capsys.readouterr().out
    assert "gamma=0.8  2 (0-1)" in printed
    assert "empty has no evaluation yet: it is left out" in printed
    assert {path.name for path in tmp_path.glob("c.*")} == {"c.png", "c.svg"}


def test_a_report_is_written_whole(folder, capsys, tmp_path):
    (folder / "low" / "config.json").write_text("{")
    assert main(["report", str(folder), "--out", str(tmp_path / "r.html"), "--title", "Tiny"]) == 0
    printed = capsys.readouterr().out
    assert "3 runs" in printed
    assert "low: " in printed
    assert "is not valid JSON" in printed
    assert "<title>Tiny</title>" in (tmp_path / "r.html").read_text()


def test_mistakes_end_in_one_line(folder, capsys, tmp_path):
    (tmp_path / "nothing").mkdir()
    assert "there is no run in" in says(capsys, "runs", tmp_path / "nothing")
    assert "none not found" in says(capsys, "compare", tmp_path / "none")
    assert "did you mean state" in says(capsys, "runs", folder, "--sort", "stat")
    assert "unknown setting 'gamm'" in says(capsys, "compare", folder, "--by", "gamm")
    assert "compare what?" in says(capsys, "compare")
    assert "report on what?" in says(capsys, "report")
    assert "has been evaluated yet" in says(capsys, "report", folder / "empty", "--out", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
