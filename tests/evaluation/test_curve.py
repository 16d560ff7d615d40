"""The learning curve is drawn from whatever a run has logged so far."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sfm.errors import SfmError
from sfm.evaluation.curve import CURRENT, GAP, KEPT, _mean, plot

VALUES = st.none() | st.floats(-1e6, 1e6) | st.just(float("nan"))
ROWS = st.lists(
    st.fixed_dictionaries(
        {"step": st.integers(0, 10**6)},
        optional={
            "seed": st.integers(0, 3),
            "eval/current": VALUES,
            "eval/kept": VALUES,
            "likeness/current": VALUES,
            "likeness/kept": VALUES,
            "gap": VALUES,
        },
    ),
    max_size=8,
)


def colours(path) -> set[str]:
    with Image.open(path) as image:
        counted = image.convert("RGB").getcolors(maxcolors=1 << 24)
    return {"#{:02X}{:02X}{:02X}".format(*colour) for _, colour in counted}


def test_lines_appear_where_there_is_data(tmp_path):
    rows = [
        {"step": step, "seed": seed, "eval/current": 10.0 * step + seed}
        for step in range(0, 100, 10)
        for seed in (0, 1)
    ]
    plot(rows, tmp_path / "a.png", title="a task", expert=988, random=33)
    assert CURRENT in colours(tmp_path / "a.png")
    assert not {KEPT, GAP} & colours(tmp_path / "a.png")
    rows += [
        {"step": 5, "eval/kept": 1.0, "gap": 0.1},
        {"step": 50, "eval/kept": 99.0, "gap": 0.2},
    ]
    plot(rows, tmp_path / "b.png", title="a task")
    assert {CURRENT, KEPT, GAP} <= colours(tmp_path / "b.png")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("gap", [{}, {"gap": 0.1}])
def test_likeness_has_a_panel_of_its_own_above_the_gap(tmp_path, gap):
    returns = [{"step": step, "eval/current": 100.0, **gap} for step in (0, 10)]
    plot(returns, tmp_path / "without.png", title="a task")
    plot([row | {"likeness/kept": 0.5} for row in returns], tmp_path / "with.png", title="a task")
    assert KEPT not in colours(tmp_path / "without.png")
    assert KEPT in colours(tmp_path / "with.png")
    with Image.open(tmp_path / "without.png") as without, Image.open(tmp_path / "with.png") as image:
        assert image.size == (without.width, without.height + 150)


def test_mean_is_over_the_steps_that_all_seeds_have_reached():
    assert _mean([{0: 1.0, 10: 2.0, 20: 5.0}, {0: 3.0, 10: 6.0}]) == {0: 2.0, 10: 4.0}
    assert _mean([{0: 1.0, 10: 2.0, 20: 5.0}, {5: 3.0, 15: 7.0}]) == {5: 2.25, 10: 3.5, 15: 5.25}
    assert _mean([{0: 1.0}, {5: 3.0}]) == {}


@given(rows=ROWS)
@settings(deadline=None, derandomize=True, max_examples=6)
def test_any_rows_give_a_picture_or_a_clear_error(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("curve") / "x.png"
    try:
        plot(rows, path, title="x", expert=1.0, random=None)
    except SfmError as error:
        assert "nothing to plot" in str(error)  # noqa: PT017
    else:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_nothing_to_plot(tmp_path):
    for rows in ([], [{"step": 1, "eval/current": None, "gap": 0.0}]):
        with pytest.raises(SfmError, match="nothing to plot"):
            plot(rows, tmp_path / "x.png", title="x")


def test_where_there_is_no_reward_the_likeness_takes_its_place(tmp_path):
    rows = [
        {"step": k, "eval/kept": None, "eval/current": None, "likeness/kept": k / 100, "likeness/current": 0}
        for k in range(0, 100, 10)
    ]
    plot(rows, tmp_path / "alike.png", title="a robot")
    plot([{**row, "eval/kept": 5.0} for row in rows], tmp_path / "both.png", title="a robot")
    with Image.open(tmp_path / "alike.png") as one, Image.open(tmp_path / "both.png") as two:
        assert one.size[1] < two.size[1]  # panels
    assert {CURRENT, KEPT} <= colours(tmp_path / "alike.png")
