"""When, where and with what a run was trained."""

import json
import subprocess
import sys

import pytest

from sfm import history
from sfm.errors import SfmError


def rows(folder):
    return [json.loads(line) for line in (folder / history.FILE).read_text().splitlines()]


def test_starts_and_ends_are_rows(tmp_path):
    with history.noted(tmp_path) as told:
        told["finished"] = False
    with pytest.raises(SfmError, match="full"), history.noted(tmp_path):
        raise SfmError("the disk is full")
    first, stopped, again, failed = rows(tmp_path)
    assert first["began"] <= stopped["ended"] <= again["began"]
    assert stopped["finished"] is False
    assert (failed["error"], failed["kind"]) == ("the disk is full", "SfmError")
    assert first["versions"]["numpy"]
    assert first["machine"].endswith("cores")


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path):
    with history.noted(tmp_path / "none"):
        pass


def test_the_command_is_as_one_would_type_it(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/sfm", "train", "a task"])
    assert history.command() == "sfm train 'a task'"
    monkeypatch.setattr(sys, "argv", ["/somewhere/sfm/__main__.py", "resume", "x"])
    assert history.command() == "sfm resume x"
    monkeypatch.setattr(sys, "argv", [""])
    assert history.command() == "python"


def test_the_commit_is_known_where_there_is_git(monkeypatch):
    assert len(history.commit().rstrip("+")) in (0, 7)

    def none(*args, **options):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", none)
    assert history.commit() == ""
