"""The table of runs."""

import pytest

from sfm.errors import SfmError
from sfm.report import table
from sfm.report.records import read
from tests.report.conftest import rows_of, write_rows


def test_a_row_has_the_means_over_seeds(copy):
    folder = copy("a", task="walker_walk")
    write_rows(folder, [row | {"likeness/kept": 0.5 + 0.2 * row["seed"]} for row in rows_of(folder)])
    row = table.row(read(folder))
    assert row["return"] == pytest.approx(sum(row["returns"].values()) / 2)
    assert row["likeness"] == pytest.approx(0.6)
    assert row["score"] < 0.05
    assert (row["state"], row["steps"], row["seeds"]) == ("finished", 160, [0, 1])


def test_order_is_by_any_column_and_what_is_empty_comes_last(copy):
    low, high = (table.row(read(copy(name, gain=gain))) for name, gain in (("low", 0.0), ("high", 5.0)))
    none = low | {"return": None, "run": "none"}
    assert table.ordered([none, high, low], "return") == [low, high, none]
    assert table.ordered([none, low, high], "-return") == [high, low, none]
    with pytest.raises(SfmError, match="unknown column 'retrn': did you mean return"):
        table.ordered([low], "retrn")


def test_lines_fit_into_the_width_and_keep_the_ends_of_paths(copy):
    rows = [table.row(read(copy(name))) for name in ("a", "b")]
    text = table.text(rows, 120)
    assert max(map(len, text.splitlines())) <= 120
    assert [line.split()[0][-2:] for line in text.splitlines()[1:]] == ["/a", "/b"]
    assert "…" not in table.text(rows, 10_000)


def test_a_narrow_terminal_has_fewer_columns_and_says_which(copy):
    text = table.text([table.row(read(copy("a", task="walker_walk")))], 80)
    *lines, note = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert {"run", "task", "state", "return"} <= set(lines[0].split())
    assert note.startswith("no room here, but in --json: minutes")
    assert "no room" not in table.text([table.row(read(copy("b")))], 10_000)


def test_seeds_are_said_as_ranges():
    assert table.said_seeds([4, 0, 1, 2, 9]) == "0-2, 4, 9"
