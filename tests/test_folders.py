"""The folder of a run."""

import multiprocessing
import time

import pytest

from sfm import folders
from sfm.errors import SfmError
from tests.conftest import TINY, tiny


def _claim(folder, queue, go):
    go.wait()
    try:
        with folders.taken(folder):
            (folder / "config.json").write_text("{}")
            time.sleep(0.2)
        queue.put("mine")
    except SfmError as error:
        queue.put(str(error))


def test_one_of_three_at_once_has_a_folder_and_the_others_write_nothing(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    queue, go = spawn.Queue(), spawn.Event()
    those = [spawn.Process(target=_claim, args=(tmp_path / "run", queue, go)) for _ in range(3)]
    for process in those:
        process.start()
    go.set()
    said = sorted(queue.get(timeout=60) for _ in those)
    for process in those:
        process.join()
    assert said.count("mine") == 1
    assert all("another process" in text or "already exists" in text for text in said if text != "mine")


def test_fresh_folders_of_one_second_differ(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda form: "20260101-000000")
    found = [folders.fresh(TINY) for _ in range(3)]
    stem = "probe_point_tiny_seed0_20260101-000000"
    assert [folder.name for folder in found] == [stem, f"{stem}_2", f"{stem}_3"]
    assert all(folder.is_dir() for folder in found)
    assert folders.fresh(tiny(task="my.worlds:own/X-v0")).name.startswith("my.worlds-own-X-v0_tiny")


def test_runs_that_is_a_file_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").write_text("")
    with pytest.raises(SfmError, match=r"runs: it is a file|a part of the path is a file"):
        folders.fresh(TINY)


def test_a_lock_left_behind_is_no_use_of_a_folder(tmp_path):
    (tmp_path / folders.LOCK).write_text("")
    assert folders.unused(tmp_path) == tmp_path
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(SfmError, match="already exists: choose another folder"):
        folders.unused(tmp_path)
