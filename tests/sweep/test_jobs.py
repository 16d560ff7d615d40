"""Wishes become jobs with names and groups that stay."""

import tomllib

import pytest

from sfm import storage
from sfm.errors import SfmError
from sfm.presets import preset
from sfm.sweep.jobs import assigned, is_small, remember, remembered
from sfm.sweep.plan import wishes

WHERE = "tasks = ['walker_walk']\n"
ONE = WHERE + "presets = 'fast'\n"


def jobs(text: str, known=(), together=0, workers=1):
    return assigned(wishes(tomllib.loads(text)), known, together, workers)


def names(text: str, **how) -> list[str]:
    return [job.name for job in jobs(text, **how)]


def test_seeds_share_a_process_while_every_worker_has_work():
    five = ONE + "seeds = '0-4'"
    assert [(job.seed, job.seeds) for job in jobs(five)] == [(0, 5)]
    assert [(job.seed, job.seeds) for job in jobs(five, workers=2)] == [(0, 2), (2, 3)]
    assert [job.seeds for job in jobs(five, workers=9)] == [1] * 5
    assert [job.seeds for job in jobs(five, together=2, workers=9)] == [2, 1, 2]
    assert [job.seeds for job in jobs(ONE + "seeds = '0-11'")] == [4, 4, 4]
    assert [job.config.seeds for job in jobs(five)] == [5]


def test_only_seeds_that_follow_each_other_and_are_otherwise_alike_share_a_process():
    assert [(job.seed, job.seeds) for job in jobs(ONE + "seeds = [9, 2, 1]")] == [(9, 1), (1, 2)]
    assert [job.seeds for job in jobs(ONE + "seeds = '0-1'\ndemos = '{seed}.npz'")] == [1, 1]
    assert [job.seeds for job in jobs(ONE + "seeds = '0-1'\nchanges = ['', 'n_step=1']")] == [2, 2]


def test_large_networks_do_not_share():
    assert is_small(preset("fast"))
    assert not is_small(preset("sfm-td3"))
    assert [job.seeds for job in jobs(WHERE + "seeds = '0-1'\npresets = 'sfm-td3'")] == [1, 1]


def test_names_are_readable_and_unique():
    assert names(ONE + "seeds = '0-4'") == ["walker_walk_fast_seed0-4"]
    assert names(ONE + "changes = ['', 'learner.width=64 n_step=1']") == [
        "walker_walk_fast_seed0",
        "walker_walk_fast_learner.width=64-n_step=1_seed0",
    ]
    assert names(ONE + "seeds = [3]\ndemos = ['a/x.npz', 'b/x.npz', 'd/{seed}.npz']\ndemo = 2") == [
        "walker_walk_fast_x_demo2_seed3",
        "walker_walk_fast_x_demo2_seed3.2",
        "walker_walk_fast_demo2_seed3",
    ]
    (odd,) = names("tasks = ['sfm/walker_walk-v0']\npresets = 'fast'\nchanges = {'../*?' = ''}")
    assert odd == "sfm-walker_walk-v0_fast_..-_seed0"
    long = " ".join(f"learner.width={k}" for k in range(40))
    assert len(names(ONE + f"changes = ['{long}']")[0]) < 100


def test_a_longer_plan_keeps_the_jobs_of_the_shorter_one(tmp_path):
    old = jobs(ONE + "seeds = '0-1'\nchanges = {a = 'n_step=1 gamma=0.5'}")
    remember(tmp_path, old)
    known = remembered(tmp_path)
    assert known == old
    later = "seeds = '0-3'\nchanges = {b = 'gamma=0.5 n_step=1', c = ''}"
    assert names(ONE + later, known=known) == [
        "walker_walk_fast_a_seed0-1",
        "walker_walk_fast_b_seed2-3",
        "walker_walk_fast_c_seed0-3",
    ]
    assert names(ONE + "seeds = [1]\nchanges = 'n_step=1 gamma=0.5'", known=known) == [old[0].name]


def test_a_folder_of_another_kind(tmp_path):
    assert remembered(tmp_path) == []
    storage.write_json(tmp_path / "sweep.json", {"jobs": [{"name": "x", "colour": "red"}]})
    with pytest.raises(SfmError, match=r"sweep\.json was not written by this version of sfm"):
        remembered(tmp_path)
