"""What people see of a run."""

import io
import math
import re
from pathlib import Path

import pytest
from rich.console import Console

from sfm.progress import Progress
from tests.conftest import tiny


def test_lines_for_files_have_evaluations_and_no_bar(capsys, tmp_path):
    progress, config = Progress(), tiny(seeds=2)
    progress.note("before [it] begins")  # brackets are no markup
    progress.begin(tmp_path / "run", config)
    progress.round([{"step": 40, "seed": 0, "seconds": 1.0}], config)
    judged = {"eval/kept": 12.34, "eval/current": 5.0, "gap": 0.5}
    alike = {"likeness/kept": 0.876, "likeness/current": 0.2}
    progress.round([{"step": 1080, "seed": 1, "seconds": 2.4} | judged], config)
    progress.round([{"step": 1080, "seed": 0, "seconds": 2.4} | judged | alike], config)
    assert progress.evaluation == "return 12 likeness 0.88"
    progress.end()
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    assert first == "before [it] begins"
    assert second == f"run    {tmp_path / 'run'}"
    assert " ".join(third.split()) == "step 1,080 seed 1 kept 12.3 current 5.0 2 s"
    assert " ".join(fourth.split()) == "step 1,080 seed 0 kept 12.3 current 5.0 likeness 0.88 2 s"


@pytest.mark.parametrize("seeds", [1, 12])
def test_an_evaluation_is_a_line_of_a_terminal(seeds, capsys, tmp_path):
    progress, config = Progress(), tiny(seeds=seeds)
    progress.begin(tmp_path, config)
    judged = {"eval/kept": -1234.5, "eval/current": -1234.5, "likeness/kept": -0.38, "likeness/current": 0.0}
    progress.round([{"step": 1_000_000, "seed": 11, "seconds": 43210.0, "gap": 0.0876} | judged], config)
    progress.end()
    line = capsys.readouterr().out.splitlines()[-1]
    assert len(line) <= 80
    assert line.endswith(" 43210 s")
    assert "likeness -0.38" in line
    assert ("seed 11" in line, "gap 0.0876" in line) == ((False, True) if seeds == 1 else (True, False))


def test_where_there_is_no_reward_no_return_is_shown(capsys, tmp_path):
    progress, config = Progress(), tiny()
    progress.begin(tmp_path / "run", config)
    judged = {"eval/kept": None, "eval/current": None, "likeness/kept": 0.5, "likeness/current": 0.5}
    progress.round([{"step": 80, "seed": 0, "seconds": 2.4, "gap": 0.5} | judged], config)
    assert progress.evaluation == "likeness 0.50"
    progress.end()
    assert " ".join(capsys.readouterr().out.splitlines()[-1].split()) == "step 80 likeness 0.50 gap 0.5 2 s"


def test_the_bar_counts_the_steps_of_all_seeds(tmp_path):
    progress, config = Progress(), tiny(seeds=2, steps=100)
    progress.begin(tmp_path, config)
    for seed, step, updates in ((0, 40, 10), (1, 40, 10), (0, 80, 30)):
        progress.round([{"step": step, "seed": seed, "seconds": 1.0, "updates": updates}], config)
    (task,) = progress.bar.tasks
    assert (task.total, task.completed, task.description) == (200, 120, "probe_point")
    assert "steps/s" in task.fields["status"]
    progress.end()


def shown(width: int, task: str, **given) -> str:
    """What the terminal shows in the middle of a run."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, force_jupyter=False)
    progress, config = Progress(console), tiny(task=task, steps=10_000_000)
    progress.begin(Path("run"), config)
    progress.latest[0], progress.seen = {"seed": 0, "step": 0, "updates": 0}, (0.0, 0, 0)
    judged = {"eval/kept": -1234.5, "eval/current": 5.0, "gap": 1.23e-05}
    progress.round([{"step": 4_000_000, "seed": 0, "seconds": 71.0, "updates": 10**6} | judged], config)
    progress.end()
    plain = Console(file=io.StringIO(), width=width, force_jupyter=False)
    with plain.capture() as capture:
        plain.print(progress.bar.get_renderable())
    return capture.get().rstrip("\n")


@pytest.mark.parametrize(
    "task", ["walker_walk", "HumanoidStandup-v5", "my_package:ARobotThatPicksAndPlaces-v12"]
)
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_nothing_is_cut_off_in_a_narrow_terminal(width, task):
    text = shown(width, task)
    assert "…" not in text
    assert "\n" not in text
    assert len(text.rstrip()) <= width
    assert re.search(r"\d:\d\d:\d\d left (\d|-):(\d|-)", text), text
    assert "return -1234" in text or "return -1235" in text
    assert (task in text) or (task[:5] not in text)
    assert task in text or width == 60 or len(task) > 20
    if width == 200:
        assert "updates/s" in text
        assert "gap 1.23e-05" in text


def test_a_notebook_has_notes_and_below_them_one_line_that_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("sfm.progress._PAUSE", 0.0)
    texts: list[str] = []
    progress, config = Progress(Console(file=io.StringIO()), texts.append), tiny(steps=100)
    progress.note("before it begins")
    progress.begin(Path("run"), config)
    progress.round([{"step": 50, "seed": 0, "seconds": 1.0}], config)
    progress.round([{"step": 60, "seed": 0, "seconds": 1.0, "eval/kept": 1.0, "eval/current": 2.0}], config)
    assert texts[-1].splitlines()[-1].startswith("probe_point 60% return 1 ")
    progress.end()
    assert progress.console.file.getvalue() == ""  # pyright: ignore[reportAttributeAccessIssue]
    first, second, third = texts[-1].splitlines()
    assert (first, second) == ("before it begins", "run    run")
    assert " ".join(third.split()) == "step 60 kept 1.0 current 2.0 1 s"


def test_a_notebook_is_not_told_of_every_round():
    texts: list[str] = []
    progress, config = Progress(Console(file=io.StringIO()), texts.append), tiny(steps=100)
    progress.begin(Path("run"), config)
    for step in range(50):
        progress.round([{"step": step, "seed": 0, "seconds": 1.0}], config)
    assert len(texts) < 50
    progress.end()


def test_a_likeness_that_cannot_be_told_is_not_shown(capsys, tmp_path):
    progress, config = Progress(), tiny()
    progress.begin(tmp_path, config)
    judged = {"eval/kept": 1.0, "eval/current": 1.0, "likeness/kept": math.nan, "seconds": 1.0}
    progress.round([{"step": 80, "seed": 0} | judged], config)
    progress.end()
    assert "likeness nan" not in capsys.readouterr().out


CELL = """
import numpy as np, sfm
sfm.train("probe_point", np.linspace(-1, 0.5, 21)[:, None], "fast", steps=400, random_steps=100, envs=1,
          learner__width=8, features__width=8, features__dim=8, batch=8, updates_per_step=1.0, force=True)
"""


def test_a_real_notebook(tmp_path, monkeypatch):
    """Where there is one: `pip install nbclient ipykernel`."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    progress, result = notebook.cells[0].outputs
    lines = progress.data["text/plain"].splitlines()
    assert [line.split()[0] for line in lines] == ["warning:", "run", "step"]
    assert result.output_type == "execute_result"
