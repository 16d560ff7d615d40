"""The examples run as they stand, with few steps."""

import json
import runpy
from pathlib import Path

import pytest

from tests.pages.places import shorten

EXAMPLES = Path(__file__).parent.parent / "examples"
FEW = ["steps=600", "envs=1", "random_steps=300", "chunk=50", "batch=8", "learner.width=8", "eval_episodes=1"]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    shorten(monkeypatch)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def run(name: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", [name, *FEW])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_a_walker_is_trained_and_watched(run, tmp_path):
    told = run("train_and_watch")
    assert "likeness" in told
    assert "'right_hip': " in told
    (video,) = tmp_path.glob("runs/*/video.mp4")
    assert f"look at {video.relative_to(tmp_path)}" in told
    assert f"sfm watch {video.parent.relative_to(tmp_path)}" in told


def test_an_environment_of_ones_own(run, tmp_path):
    told = run("own_environment")
    assert told.count("from the place") == 10
    assert len(list(tmp_path.glob("runs/Puck*/policies/kept_seed0.safetensors"))) == 1


def test_a_table_of_ones_own(run):
    told = run("own_csv")
    assert "The velocity is in degrees per second" in told
    assert ": return " in told


def test_two_methods_side_by_side(run, tmp_path):
    told = run("compare_methods")
    assert {"preset=general", "preset=gaifo-general"} <= {
        line.split()[0] for line in told.splitlines() if line
    }
    assert (tmp_path / "runs" / "methods" / "curves.png").stat().st_size > 10_000


def test_the_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFM_EXAMPLE", " ".join(FEW))
    cells = json.loads((EXAMPLES / "one_demonstration.ipynb").read_text())["cells"]
    seen: dict = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), seen)
    assert seen["result"].finished
    assert len(seen["states"]) == 201
