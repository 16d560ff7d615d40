"""Groups side by side: what they had, their curves as files, and what is said of what is missing."""

import re

import numpy as np
import pytest
from PIL import Image

from sfm.errors import SfmError
from sfm.evaluation.scores import normalised
from sfm.report import compare, figures, table
from sfm.report.curves import Curve, summary
from sfm.report.finals import ends, text
from sfm.report.page import page
from sfm.report.records import read
from tests.report.conftest import rows_of, write_rows


def groups_of(copy, tmp_path):
    for i, gamma in enumerate((0.9, 0.8)):
        for k in range(2):
            copy(f"runs/{gamma}-{k}", gamma=gamma, seed=2 * k, gain=10.0 * i)
    return compare.gather([tmp_path / "runs"], "gamma")


def test_final_values_are_over_all_seeds_of_a_group(copy, tmp_path):
    found = compare.comparison(groups_of(copy, tmp_path), "steps", "return")
    assert found.notes == []
    low, high = (found.finals["probe_point"][name] for name in ("gamma=0.9", "gamma=0.8"))
    rows = rows_of(tmp_path / "runs" / "0.9-0")
    values = list({row["seed"]: row["eval/kept"] for row in rows if "eval/kept" in row}.values())
    assert (low.seeds, low.steps, low.unfinished) == ([0, 1, 2, 3], (160, 160), 0)
    assert high.returns.value == pytest.approx(low.returns.value + 10)
    assert low.worst[1] <= low.returns.value
    assert low.spread == pytest.approx(np.std(values * 2, ddof=1))
    assert low.returns.low is not None
    assert low.worst[1] <= low.returns.low <= low.returns.value
    lines = text("probe_point", found.finals["probe_point"])
    assert "4 (0-3)" in lines
    assert ends(low.returns) in lines


def test_scores_are_on_one_scale_in_tables_curves_and_pages(copy):
    folder = copy("walker", task="walker_walk", gain=500.0)
    found = compare.comparison(compare.gather([folder], None), "steps", "score")
    ((name, end),) = found.finals["walker_walk"].items()
    want = normalised("walker_walk", end.returns.value)
    assert end.score.value == pytest.approx(want)
    assert found.curves["walker_walk"][name].line.value[-1] == pytest.approx(want)
    assert table.row(read(folder))["score"] == pytest.approx(want)
    assert f"{want:.2f}<" in page([read(folder)], "One run")


def test_one_seed_has_no_interval_and_says_so(copy):
    found = compare.comparison(compare.gather([copy("one", seeds=1), copy("two")], None), "steps", "return")
    lines = text("probe_point", found.finals["probe_point"])
    assert list(found.finals["probe_point"]) == ["one", "two"]
    one = copy("single", seeds=1)
    write_rows(one, [row for row in rows_of(one) if row["seed"] == 0])
    found = compare.comparison(compare.gather([one], None), "steps", "return")
    lines = text("probe_point", next(iter(found.finals.values())))
    assert "none: one seed" in lines
    assert next(iter(found.curves["probe_point"].values())).line.low is None


@pytest.mark.parametrize("axis", ["steps", "updates", "seconds"])
def test_curves_are_drawn_as_png_and_svg(copy, tmp_path, axis):
    found = compare.comparison(groups_of(copy, tmp_path), axis, "return")
    png, svg = compare.draw(found, axis, "return", tmp_path / "out" / "curves")
    with Image.open(png) as image:
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 24) or ()}
    for _, (colour, _) in zip(range(2), figures.styles(["a", "b"]).values(), strict=False):
        assert tuple(bytes.fromhex(colour[1:])) in colours
    assert svg.name == "curves.svg"
    assert "gamma=0.8" in svg.read_text()
    assert figures.AXES[axis] in svg.read_text()


def test_mixed_tasks_and_half_written_runs_are_told(copy):
    empty, a, b = copy("empty"), copy("a"), copy("b", task="walker_walk")
    write_rows(empty, [])
    found = compare.comparison(compare.gather([empty, a, b], None), "steps", "return")
    assert list(found.finals) == ["probe_point", "walker_walk"]
    assert f"{empty} has no evaluation yet: it is left out" in found.notes
    assert "walker_walk: nothing of a" in found.notes
    scores = compare.comparison(compare.gather([a, b], None), "steps", "score")
    assert list(scores.curves) == ["walker_walk"]
    with pytest.raises(SfmError, match=r"none of these runs has been evaluated yet: .*empty"):
        compare.comparison(compare.gather([empty], None), "steps", "return")
    write_rows(a, [{k: v for k, v in row.items() if "likeness" not in k} for row in rows_of(a)])
    with pytest.raises(SfmError, match="no likeness of the kept policy is in the logs"):
        compare.comparison(compare.gather([a], None), "steps", "likeness")


def drawn(names, tasks):
    line = summary([Curve(np.arange(3.0), np.arange(3.0))])
    return figures.learning(
        {f"task{k}": dict.fromkeys(names, line) for k in range(tasks)},
        "steps",
        "return",
        figures.styles(names),
    )


def test_every_task_has_a_panel_and_no_panel_is_empty():
    found = [axes for axes in drawn(["a"], 4).axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in found] == ["task0", "task1", "task2", "task3"]


@pytest.mark.parametrize("tasks", [1, 3])
def test_legends_fit_however_long_names_are(tasks):
    names = [f"general objective.features.state_by=between width={k} lr=0.00{k}" * 3 for k in range(1, 4)]
    figure = drawn([*names, "short"], tasks)
    figure.canvas.draw()
    box, whole = figure.legends[0].get_window_extent(), figure.bbox
    assert whole.x0 <= box.x0 < box.x1 <= whole.x1


def test_numbers_that_are_read_keep_their_digits():
    text = figures.inline(drawn(["ema=0.9975"], 1), "x", "Curves of ema=0.9975")
    assert text.count("ema=0.9975") == 2
    assert not re.search(r' d="[^"]*\.\d{3}', text)
