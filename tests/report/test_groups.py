"""Which seeds are compared with which."""

import shutil

import pytest

from sfm.errors import SfmError
from sfm.report.groups import grouped, named, pooled, samples, tell
from sfm.report.records import read
from tests.report.conftest import write_rows


def test_runs_are_grouped_by_their_settings_or_one_of_them(copy):
    records = [read(copy(f"{g}-{s}", gamma=g, seed=s, seeds=1)) for g in (0.8, 0.9) for s in (0, 5)]
    assert [len(group) for group in grouped(records).values()] == [2, 2]
    assert list(grouped(records, "gamma")) == ["gamma=0.8", "gamma=0.9"]
    assert list(grouped(records, "preset")) == ["preset=tiny"]
    with pytest.raises(SfmError, match="unknown setting"):
        grouped(records, "gamme")


def test_places_are_called_by_what_tells_them_apart(copy, tmp_path):
    copy("x/run")
    copy("y/run")
    assert list(named([tmp_path / "x" / "run", tmp_path / "y" / "run"])) == ["x/run", "y/run"]


def test_a_copy_counts_once_and_is_told(copy, tmp_path):
    first = copy("first")
    shutil.copytree(first, tmp_path / "second")
    found, notes = samples([read(first), read(tmp_path / "second"), read(copy("other", gain=1.0))])
    assert [(s.record.folder.name, s.seed) for s in found] == [
        ("first", 0),
        ("first", 1),
        ("other", 0),
        ("other", 1),
    ]
    assert len(notes) == 2
    assert "counted once" in notes[0]


def test_runs_that_are_not_whole_are_told(copy):
    empty, broken, fine = copy("empty"), copy("broken"), copy("fine")
    write_rows(empty, [])
    (broken / "config.json").unlink()
    records = [read(folder) for folder in (empty, broken, fine)]
    said = tell(records)
    assert len(said) == 1
    assert "broken is damaged: config.json is missing" in said[0]
    assert samples(records)[1] == [f"{empty} has no evaluation yet: it is left out"]


def test_what_is_taken_for_seeds_and_is_not_is_told(copy):
    fine = [read(copy(f"fine-{k}", seed=2 * k, gain=k)) for k in range(2)]
    assert pooled("mine", samples(fine)[0]) == []
    other = read(copy("other", gamma=0.7, gain=3.0))
    (mixed,) = pooled("mine", samples([fine[1], other])[0])
    assert "mine has several methods on probe_point, taken for seeds of one: tiny" in mixed
    assert "gamma=0.7" in mixed
    again = copy("again", gain=5.0)
    twice = pooled("mine", samples([fine[0], read(again)])[0])
    assert twice == [
        f"mine has seed {seed} of probe_point 2 times, trained more than once: each counts as a seed"
        for seed in (0, 1)
    ]
    (again / "demos.npz").write_bytes(b"others")
    assert "2 times, from different demonstrations" in pooled("mine", samples([fine[0], read(again)])[0])[0]
