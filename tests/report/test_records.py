"""What a run folder tells, whatever state it is in."""

import fcntl
import json
import shutil
import time

import pytest

import sfm
from sfm import history
from sfm.config import FeatureConfig, SFMConfig, to_dict
from sfm.errors import SfmError
from sfm.history import past_of
from sfm.presets import preset
from sfm.report.records import evaluations, find, read, read_all
from tests.conftest import tiny
from tests.report.conftest import DEMOS, rows_of, write_rows


def test_a_finished_run_tells_its_settings_and_its_ends(real):
    record = read(real)
    assert (record.task, record.preset, record.state, record.problem) == (
        "probe_point",
        "tiny",
        "finished",
        "",
    )
    assert (record.seeds, record.steps) == ([0, 1], 160)
    ends = {row["seed"]: row["eval/kept"] for row in rows_of(real) if "eval/kept" in row}
    assert record.values() == ends
    alike = {row["seed"]: row["likeness/kept"] for row in rows_of(real) if "eval/kept" in row}
    assert record.values("likeness") == alike
    assert record.minutes == pytest.approx(max(row["seconds"] for row in rows_of(real)) / 60)


def test_a_run_notes_its_start_and_its_end(real):
    began, ended = past_of(real)
    assert began["commit"] == history.commit()
    assert began["versions"]["jax"]
    assert "cores" in began["machine"]
    assert began["command"] == history.command()
    assert ended["finished"] is True


def test_states(copy):
    half = copy("half")
    write_rows(half, rows_of(half)[:4])
    assert (read(half).state, read(half).steps) == ("finished", 40)  # it noted that it had
    (half / history.FILE).unlink()
    assert read(half).state == "stopped"
    with open(half / ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert read(half).state == "running"
    assert read(half).state == "stopped"
    (half / history.FILE).write_text(
        '{"ended": "now", "error": "training diverged: x", "kind": "Diverged"}\n'
    )
    assert (read(half).state, read(half).problem) == ("diverged", "training diverged: x")
    (half / history.FILE).unlink()
    write_rows(half, [*rows_of(half)[:3], {"step": 60, "seed": 0, "critic_loss": None}])
    assert read(half).state == "diverged"


def test_a_run_that_diverges_says_where(tmp_path):
    features = FeatureConfig(dim=8, width=16, depth=2, head_width=16, lr=1e30)
    with pytest.raises(SfmError, match="diverged"):
        sfm.train(demos=DEMOS, config=tiny(objective=SFMConfig(features=features)), folder=tmp_path / "run")
    record = read(tmp_path / "run")
    assert record.state == "diverged"
    assert "feature_loss" in record.problem


def test_a_run_without_history_has_finished_when_all_seeds_took_their_steps(copy):
    folder = copy("old")
    (folder / history.FILE).unlink()
    assert read(folder).state == "finished"
    write_rows(folder, [row for row in rows_of(folder) if row["seed"] == 0 or row["step"] < 160])
    assert read(folder).state == "stopped"


def test_old_logs_call_the_kept_policy_the_checkpoint(copy):
    folder = copy("old")
    want = read(folder).values()
    text = (folder / "metrics.jsonl").read_text().replace("eval/kept", "eval/checkpoint")
    (folder / "metrics.jsonl").write_text(text)
    assert read(folder).values() == want
    assert all("eval/kept" in row for row in evaluations(read(folder))[0])


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b"{", "is not valid JSON"),
        ("config.json", b"[]", "config.json has no settings"),
        ("config.json", b'{"model": "bert"}', "no settings of a run"),
        ("config.json", b'{"task": "a", "preset": "b", "seed": null, "seeds": 1}', "no seed"),
        ("metrics.jsonl", b'{"step": 1, "seed": []}\n{"step": 1}\n', "lines that are no rows"),
        ("metrics.jsonl", b'{"step": 1, "eval/kept": "high"}\n{"step": 1}\n', "lines that are no rows"),
        ("metrics.jsonl", b'[{"step": 1}]\n{"step": 1}\n', "lines that are no rows"),
        ("metrics.jsonl", b'{"step": 1}\n\x00\x00\n{"step": 2}\n', "lines that are no rows"),
    ],
)
def test_what_is_damaged_is_said_and_not_lost(copy, file, content, said):
    folder = copy("x")
    (folder / file).unlink()
    if content:
        (folder / file).write_bytes(content)
    record = read(folder)
    assert record.state == "damaged"
    assert said in record.problem


def test_a_torn_last_line_is_no_damage(copy):
    folder = copy("torn")
    want = read(folder)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"step": 200, "eval/ke')
    record = read(folder)
    assert (record.state, record.values()) == (want.state, want.values())
    assert evaluations(record)[1] == 0


def test_damaged_lines_are_counted_and_the_others_read(copy):
    folder = copy("bad")
    rows, damaged = evaluations(read(folder))
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    lines.insert(3, '{"eval/kept": 12')
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    assert evaluations(read(folder)) == (rows, damaged + 1)


def test_the_last_evaluation_may_lie_far_before_the_end(copy):
    folder = copy("long")
    want = read(folder).values()
    more = [{"step": 160, "seed": s, "filler": "x" * 500} for s in (0, 1)] * 100
    write_rows(folder, rows_of(folder) + more)
    assert read(folder).values() == want


def test_runs_are_found_however_deep_and_nothing_below_them(copy, tmp_path):
    for name in ("b", "a/x", "a/y/z"):
        copy(name)
    names = [str(path.relative_to(tmp_path)) for path in find([tmp_path])]
    assert names == ["a/x", "a/y/z", "b"]
    assert len(find([tmp_path, tmp_path / "b"])) == 3


def test_folders_without_runs_are_refused(tmp_path):
    with pytest.raises(SfmError, match="there is no run in"):
        find([tmp_path])
    with pytest.raises(SfmError, match="not found"):
        find([tmp_path / "none"])
    (tmp_path / "file").touch()
    with pytest.raises(SfmError, match="is no folder of runs"):
        find([tmp_path / "file"])


def test_a_thousand_runs_are_read_in_seconds(copy, tmp_path):
    folder = copy("run0")
    files = {name: (folder / name).read_bytes() for name in ("config.json", "metrics.jsonl", history.FILE)}
    for i in range(1, 1000):
        place = tmp_path / f"run{i}"
        place.mkdir()
        for name, data in files.items():
            (place / name).write_bytes(data)
    begin = time.process_time()
    records = read_all([tmp_path])
    assert time.process_time() - begin < 3
    assert [r.state for r in records] == ["finished"] * 1000
    assert json.loads(files["config.json"])["task"] == records[999].task


def test_an_action_repeat_that_was_asked_for_is_a_change(copy):
    """The probe has ten steps a second: of its own a run of `general` would not repeat them."""
    data = to_dict(preset("general", task="probe_point", seeds=2))
    folders = [copy(f"repeat-{times}", **data | {"action_repeat": times}) for times in (1, 3)]
    assert [read(folder).method for folder in folders] == ["general", "general action_repeat=3"]
    shutil.rmtree(folders[1] / "policies")  # nothing tells what it would have chosen
    assert read(folders[1]).method == "general"
