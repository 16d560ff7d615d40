"""What `sfm demos` prints and writes."""

import re

import numpy as np
import pytest

from sfm.demos import bundled, command, inspect, load, npz, save
from sfm.errors import SfmError

from .samples import assert_equal, demos


def test_summary_and_table():
    given = demos()
    assert inspect.summary(given) == (
        "3 demonstrations of 2 to 7 (median 4) steps, states of 3 dimensions, actions of 2 dimensions"
    )
    one = demos((4,), action_dim=None)
    assert inspect.summary(one) == "1 demonstration of 4 steps, states of 3 dimensions, no actions"
    assert inspect.table(given).row_count == 5
    assert inspect.table(demos((1,))).row_count == 5  # a single action has no change


def test_inspect_and_plot(tmp_path, capsys):
    save(tmp_path / "x.npz", demos())
    assert command.main(["inspect", str(tmp_path / "x.npz"), "--plot", str(tmp_path / "x.png")]) == 0
    shown = capsys.readouterr().out
    assert "state 2" in shown
    assert "action 1" in shown
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_convert(tmp_path, capsys):
    save(tmp_path / "x.npz", demos())
    assert command.main(["convert", str(tmp_path / "x.npz"), str(tmp_path / "y.csv")]) == 0
    assert "3 demonstrations" in capsys.readouterr().out
    assert_equal(load(tmp_path / "y.csv"), demos())
    again = ["convert", str(tmp_path / "x.npz"), str(tmp_path / "y.csv")]
    with pytest.raises(SfmError, match=r"y.csv exists: choose another name, or overwrite it with --force"):
        command.main(again)
    command.main([*again, "--force"])
    pytest.importorskip("pyarrow")
    command.main(["convert", str(tmp_path / "y.csv"), str(tmp_path / "z"), "--format", "lerobot"])
    assert_equal(load(tmp_path / "z"), demos())
    with pytest.raises(SfmError, match=r"which format\? Name one of npz, csv, minari, .*, lerobot-v2\.1"):
        command.main(["convert", str(tmp_path / "x.npz"), str(tmp_path / "y.xyz")])


def test_doctor(tmp_path, capsys, point_demos):
    save(tmp_path / "x.npz", point_demos)
    assert command.main(["doctor", str(tmp_path / "x.npz"), "probe_point"]) == 0
    assert "nothing to object" in capsys.readouterr().out
    save(tmp_path / "bad.npz", demos())
    with pytest.raises(SfmError, match="does not fit 'probe_point': 1 error, see above"):
        command.main(["doctor", str(tmp_path / "bad.npz"), "probe_point"])
    assert re.search(r"error: states have 3 dimensions.*\n +Compare", capsys.readouterr().out)


def test_bundled(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bundled, "DATA", tmp_path)
    assert bundled.names() == []
    assert bundled.bundled("a_task") is None
    command.main(["list"])
    assert "no demonstrations are bundled" in capsys.readouterr().out
    npz.save(tmp_path / "a_task.npz", demos(), provenance='{"seed": 3, "returns": [1.0]}')
    assert bundled.names() == ["a_task"]
    assert bundled.provenance("a_task")["seed"] == 3
    assert_equal(load("a_task"), demos())
    command.main(["list"])
    assert "a_task" in capsys.readouterr().out
    with pytest.raises(SfmError, match="unknown bundled demonstrations 'b_task': did you mean a_task"):
        bundled.provenance("b_task")


def test_bundled_files_are_intact():
    assert bundled.corrupted() == []
    for task in bundled.names():
        given = bundled.bundled(task)
        assert given is not None
        assert np.isfinite(given.obs).all()
        assert bundled.provenance(task)["task"] == task
