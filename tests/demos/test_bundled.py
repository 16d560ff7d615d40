"""What comes with the package is intact and found by name."""

import hashlib

import numpy as np
import pytest

from sfm.cli import demos as command
from sfm.demos import bundled, load
from sfm.demos.formats import npz_files
from sfm.errors import SfmError
from tests.demos.samples import assert_equal, demos


def test_bundled(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bundled, "DATA", tmp_path)
    assert bundled.names() == []
    assert bundled.bundled("a_task") is None
    command.main(["list"])
    assert "no demonstrations are bundled" in capsys.readouterr().out
    npz_files.save(tmp_path / "a_task.npz", demos(), provenance='{"seed": 3, "returns": [1.0]}')
    assert bundled.names() == ["a_task"]
    assert bundled.provenance("a_task")["seed"] == 3
    assert_equal(load("a_task"), demos())
    command.main(["list"])
    assert "a_task" in capsys.readouterr().out
    with pytest.raises(SfmError, match="unknown bundled demonstrations 'b_task': did you mean a_task"):
        bundled.provenance("b_task")


def test_bundled_files_are_intact():
    sums = bundled.DATA / "SHA256SUMS"
    listed = {name: digest for digest, name in map(str.split, sums.read_text().splitlines())}
    files = [file for file in bundled.DATA.iterdir() if file != sums]
    assert {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files} == listed
    for task in bundled.names():
        given = bundled.bundled(task)
        assert given is not None
        assert np.isfinite(given.obs).all()
        assert bundled.provenance(task)["task"] == task
