"""What a sweep had, in tables."""

import shutil

import sfm
from benchmarks import records
from benchmarks.gather import EPISODES, gather
from sfm.sweep.jobs import remember
from tests.sweep.helpers import jobs


def test_what_has_finished_is_gathered_and_measured_once(tmp_path):
    one, two, *_ = wished = jobs(tmp_path, seeds="0-2")
    remember(tmp_path, wished)
    sfm.train("probe_point", one.demos, config=one.config, folder=tmp_path / one.name, progress=False)
    shutil.copytree(tmp_path / one.name, tmp_path / two.name)  # one that is not at its end
    log = tmp_path / two.name / "metrics.jsonl"
    log.write_text("".join(line for line in log.read_text().splitlines(True) if '"step": 160' not in line))
    tables = tmp_path / "runs.csv", tmp_path / "finals.csv"
    assert gather("mine", tmp_path, *tables) == 1
    (end,) = records.read(tables[1])
    assert (end["series"], end["demos"], end["seed"], end["episodes"]) == ("mine", "point", 0, EPISODES)
    assert end["mean"] < 0
    judged = [row["step"] for row in records.read(tables[0])]
    assert judged == sorted(judged)
    assert judged[-1] == 160

    before = (tmp_path / one.name / "eval.json").stat().st_mtime_ns
    assert gather("mine", tmp_path, tables[0], tables[0]) == 1  # both in one table
    assert len(records.read(tables[0])) == len(judged) + 1
    assert (tmp_path / one.name / "eval.json").stat().st_mtime_ns == before
