"""What `sfm demos` prints and writes."""

import re

import pytest

from sfm.cli import demos as command
from sfm.demos import load, save
from sfm.errors import SfmError
from tests.demos.samples import assert_equal, demos


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
    with pytest.raises(SfmError, match=r"which format\? Name one of npz, csv, lerobot, .*, imitation"):
        command.main(["convert", str(tmp_path / "x.npz"), str(tmp_path / "y.xyz")])


def test_doctor(tmp_path, capsys, point_demos):
    save(tmp_path / "x.npz", point_demos)
    assert command.main(["doctor", str(tmp_path / "x.npz"), "probe_point"]) == 0
    assert "nothing to object" in capsys.readouterr().out
    save(tmp_path / "bad.npz", demos())
    with pytest.raises(SfmError, match="does not fit 'probe_point': 1 error, see above"):
        command.main(["doctor", str(tmp_path / "bad.npz"), "probe_point"])
    assert re.search(r"error: states have 3 dimensions.*\n +Compare", capsys.readouterr().out)
