"""The parts of the soak: what happens when, what is compared, the memory, the disk that is full."""

import os
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

from benchmarks.same import differences
from benchmarks.soak import PLANNED, Found, begun, disturbed, left, moments, table
from benchmarks.watching import SIZE, Disk, Memory, drift, room, small_disk, worked
from sfm.sweep.child import Outcome
from sfm.training.checkpoint import Checkpoints


def test_two_hours_have_what_is_planned_in_some_order_each_in_its_part_of_the_time():
    due = moments(120, 0)
    assert Counter(kind for _, kind in due) == PLANNED
    assert [int(moment // 100) for moment, _ in due] == list(range(72))  # 7,200 seconds for 72 events
    assert due == moments(120, 0) != moments(120, 1)
    assert Counter(kind for _, kind in moments(5, 0)) == {"stop": 2, "kill": 1, "full disk": 1}


@pytest.mark.parametrize(("slope", "expected"), [(0.0, 0.0), (1.0, 100 * 75 / 162.5)])
def test_drift_is_that_of_the_last_three_quarters(slope, expected):
    samples = [(float(t), 100 + (slope * t if t >= 25 else 40.0 * (t % 2))) for t in range(101)]
    assert drift(samples) == pytest.approx(expected, abs=0.5)


def test_memory_and_work_of_a_process_are_watched(tmp_path):
    code = "import time; held = bytearray(b'x' * 50_000_000); [i for i in range(10**6)]; time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        with Memory(child.pid, tmp_path / "memory.csv", every=0.02) as memory:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and not (memory.samples and memory.samples[-1][1] > 45):
                time.sleep(0.02)
        assert 45 < memory.samples[-1][1] < 200
        assert worked(child.pid) > 0
    finally:
        child.kill()
        child.wait()
    assert (tmp_path / "memory.csv").read_text().startswith("seconds,megabytes\n")
    assert worked(child.pid) == 0


WRITES = "import sys, time; time.sleep(0.5); open(sys.argv[1], 'wb').write(bytes(10_000_000))"


@pytest.mark.parametrize("mounted", [True, False])
def test_a_full_disk_has_no_room_until_it_is_emptied(mounted, tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        if mounted and not disk.own:
            pytest.skip("no right to mount")
        disk = disk if mounted else Disk(tmp_path, own=False)
        writer = [sys.executable, "-c", WRITES, str(disk.folder / "file")]
        child = subprocess.Popen(writer, stderr=subprocess.PIPE, text=True)
        with disk.filled(child.pid):
            _, said = child.communicate(timeout=60)
            assert ("No space left" if mounted else "File too large") in said
            assert not mounted or room(disk.folder) == 0
        assert subprocess.run(writer).returncode == 0
        assert not mounted or 0 < room(disk.folder) < SIZE << 20
    assert mounted or (tmp_path / "file").exists()


def run_folder(folder, value=1.0, seconds=1.0):
    Checkpoints(folder / "checkpoints").save(10, {"w": np.full(3, value)}, {"seconds": seconds})
    (folder / "policies").mkdir()
    (folder / "policies" / "kept_seed0.safetensors").write_bytes(b"policy")
    (folder / "metrics.jsonl").write_text(f'{{"step": 10, "seed": 0, "seconds": {seconds}, "x": {value}}}\n')
    return folder


def test_runs_are_the_same_but_for_times(tmp_path):
    expected = left(run_folder(tmp_path / "a"))
    found = Found()
    found.compare(expected, run_folder(tmp_path / "b", seconds=2.0))
    assert found.lost == []
    found.compare(expected, run_folder(tmp_path / "c", value=1.5))
    assert found.lost == ["c is another run: changed log, changed w (2 in all)"]
    assert differences(expected, left(tmp_path / "b"))["changed"] == []
    assert found.compared == 2
    assert "identical: no" in table(5, found, 0.1)
    assert begun(tmp_path / "a", 0)
    assert not begun(tmp_path / "a", time.time() + 1)


class Child:
    """A process that is disturbed, or ends as said."""

    pid = os.getpid()

    def __init__(self, end):
        self.end = end

    def running(self):
        return self.end in ("stopped", "killed")

    def outcome(self):
        return Outcome(self.end, "a traceback" if self.end == "failed" else "")

    def stop(self):
        assert self.end == "stopped"

    def kill(self):
        assert self.end == "killed"


def test_what_is_due_happens_and_what_ends_otherwise_is_lost(tmp_path, monkeypatch):
    ends = iter(["stopped", "killed", "failed", "finished"])

    def process(plan, folder, logs):
        if not folder.exists():
            run_folder(folder)
        return Child(next(ends))

    monkeypatch.setattr("benchmarks.soak.process", process)
    monkeypatch.setattr("benchmarks.soak.begun", lambda *_: True)
    seconds = iter([0.0, 6.0, 0.0, 6.0])  # what is overdue waits for some of the 10 of a whole run
    monkeypatch.setattr("benchmarks.soak.worked", lambda _: next(seconds))
    found, expected = Found(), left(run_folder(tmp_path / "alone"))
    due = [(-5.0, "stop"), (-2.0, "kill")]
    disturbed(due, expected, 10.0, Disk(tmp_path, own=False), tmp_path, found)
    assert due == []
    assert found.survived == {"stop": 1, "kill": 1}
    assert found.lost == ["run1: failed, a traceback"]
    assert found.compared == 1
    assert not (tmp_path / "run1").exists()
