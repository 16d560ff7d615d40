"""Rows come back, a kill tears at most the last one, and optional logs say how to get them."""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfm.errors import SfmError
from sfm.training.logs import JsonlLog, TensorBoardLog, WandbLog, open_logs, read_rows

ROWS = [
    {"step": 0, "seed": 1, "loss": 0.5},
    {"step": 1000, "seed": 1, "loss": 0.25},
    {"step": 2000, "loss": None},
]


def log_of(path: Path, rows=ROWS) -> JsonlLog:
    log = JsonlLog(path)
    for row in rows:
        log.write(row)
    return log


def test_rows_come_back(tmp_path):
    log_of(tmp_path / "new" / "x.jsonl")
    assert read_rows(tmp_path / "new" / "x.jsonl") == ROWS
    assert read_rows(tmp_path / "none") == []


def test_lines_are_valid_json(tmp_path):
    log_of(
        tmp_path / "x", [{"step": np.int64(3), "a": math.nan, "b": np.float32(np.inf), "c": np.float32(0.5)}]
    )
    lines = (tmp_path / "x").read_text().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail) for line in lines] == [
        {"step": 3, "a": None, "b": None, "c": 0.5}
    ]


@given(cut=st.integers(0, 200))
@settings(deadline=None, derandomize=True)
def test_a_torn_last_line_is_dropped_and_repaired(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("log") / "x"
    log_of(path)
    data = path.read_bytes()[:cut]
    path.write_bytes(data)
    rows = read_rows(path)
    assert rows == ROWS[: len(rows)]
    assert len(rows) >= data.count(b"\n")
    JsonlLog(path).write({"step": 9})
    assert read_rows(path) == [*rows, {"step": 9}]


def test_damage_before_the_last_line_is_an_error(tmp_path):
    (tmp_path / "x").write_text('{"step": 1}\n{"step"\n{"step": 3}\n')
    with pytest.raises(SfmError, match="line 2 is not valid JSON"):
        read_rows(tmp_path / "x")


def test_resume_forgets_what_came_after_the_checkpoint(tmp_path):
    log = log_of(tmp_path / "x")
    log.truncate(lambda row: row["step"] <= 1000)
    log.write({"step": 1500})
    assert read_rows(tmp_path / "x") == [*ROWS[:2], {"step": 1500}]
    JsonlLog(tmp_path / "none").truncate(lambda row: True)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_full_disk():
    with pytest.raises(SfmError, match="could not write /dev/full: the disk is full"):
        JsonlLog(Path("/dev/full")).write({"step": 1})


def events(folder: Path) -> list[tuple[int, str, float]]:
    """(step, tag, value) of all scalars in TensorBoard's record files: length, crc, event, crc."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        while data:
            (size,) = struct.unpack("<Q", data[:8])
            event = Event.FromString(data[12 : 12 + size])
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
            data = data[size + 16 :]
    return found


def test_tensorboard_has_one_folder_per_seed(tmp_path):
    pytest.importorskip("tensorboardX")
    logs = open_logs(tmp_path, tensorboard=True, wandb=False, config={})
    logs.write({"step": 0, "seed": 1, "loss": np.float32(0.5), "gap": None, "note": "text"})
    logs.write({"step": 10, "seed": 2, "loss": 0.25})
    logs.write({"step": 10, "speed": 3})
    logs.jsonl.truncate(lambda row: row["step"] > 0)
    logs.close()
    assert [row["step"] for row in read_rows(tmp_path / "metrics.jsonl")] == [10, 10]
    assert events(tmp_path / "tensorboard" / "seed_1") == [(0, "loss", 0.5)]
    assert events(tmp_path / "tensorboard" / "seed_2") == [(10, "loss", 0.25)]


def test_a_resumed_run_logs_where_it_did(tmp_path):
    pytest.importorskip("tensorboardX")
    for step in range(2):
        logs = open_logs(tmp_path, tensorboard=step == 0, wandb=False, config={})
        logs.write({"step": step, "seed": 1, "loss": 0.5})
        logs.close()
    assert sorted(events(tmp_path / "tensorboard" / "seed_1")) == [(0, "loss", 0.5), (1, "loss", 0.5)]


def test_an_evaluation_that_begins_a_resumed_run_hides_no_round_in_tensorboard(tmp_path):
    """It is logged at the step of a round before the resumption."""
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event, SessionLog

    for name, purged in (("loss", 40), ("eval/kept", 41)):
        log = TensorBoardLog(tmp_path / name)
        log.write({"step": 40, "seed": 1, name: 0.5})
        log.close()
        data = next((tmp_path / name / "seed_1").iterdir()).read_bytes()
        found = []
        while data:
            (size,) = struct.unpack("<Q", data[:8])
            found.append(Event.FromString(data[12 : 12 + size]))
            data = data[size + 16 :]
        assert [e.step for e in found if e.session_log.status == SessionLog.START] == [purged]


def test_missing_packages_name_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)  # Python's own way to forbid an import
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(SfmError, match=r"pip install 'successor-feature-matching\[tensorboard\]'"):
        TensorBoardLog(tmp_path)
    with pytest.raises(SfmError, match=r"pip install 'successor-feature-matching\[wandb\]'"):
        WandbLog(tmp_path, {})
    assert list(tmp_path.iterdir()) == []
