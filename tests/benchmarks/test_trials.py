import numpy as np
import pytest

from benchmarks import records, trials
from benchmarks.trials import (
    TASKS,
    TRIALS,
    Options,
    changes_of,
    kept,
    learned,
    mean_return,
    share,
    table,
    training_return,
)
from sfm import api, storage
from sfm.presets import preset


def rows(returns, **last):
    made = [
        {"step": 1000 * (i + 1), "seed": 11, "training": value, "seconds": 2.0 * (i + 1)}
        for i, value in enumerate(returns)
    ]
    made[-1] |= last
    return made


@pytest.mark.parametrize("name", TRIALS)
def test_every_trial_changes_what_it_says(name):
    changed, base = (api.overridden(preset("fast"), changes_of(n)) for n in (name, "preset"))
    assert (changed == base) == (name == "preset")
    assert base.learner.lr_actor_final is None


def test_learned_is_when_five_episodes_in_a_row_are_good():
    assert learned(rows([500, 0, 0, 0, 0, 400, 500, 500, 500, 500]), 480) == 10_000
    assert np.isnan(learned(rows([1000, 0, 0, 0, 0, 0, 1000]), 480))


def test_kept_asks_the_kept_policy():
    assert kept(rows([0, 0, 0], **{"kept": 800.0, "current": 0.0}), 790) == 3000
    assert np.isnan(kept(rows([900, 900, 900], **{"kept": 100.0, "current": 900.0}), 790))


def test_training_return_is_a_mean_of_a_part():
    assert training_return(rows([1, 2, 3, 4]), 1000, 3000) == 2.5


def test_mean_return_is_of_whole_trials():
    assert mean_return([rows([1, 3]), rows([4, 4])], 2000) == 3.0
    assert np.isnan(mean_return([rows([1, 3]), rows([4, 4])], 3000))


def test_share_is_that_of_most_rounds():
    """Nothing is learned at first, nor while a policy is assessed, and then more at once."""
    updates = [0, 700, 1700, 1700, 3700, 4700, 5700]
    rounds = [{"step": 4000 * k, "updates": u} for k, u in enumerate(updates, 1)]
    assert share(rounds) == 0.25
    assert share(rounds[:2]) == 1.0


def test_table_tells_seeds_apart_and_counts_steps_by_updates():
    task, (_, steps) = next(iter(TASKS.items()))
    options, known = Options(["preset", "width_64", "one_environment"], seed=1, seeds=9, series="s"), []
    for name, per_step in (("preset", 1.0), ("one_environment", 0.25)):
        who = {"series": "s", "task": task, "trial": name}
        known += [
            who
            | {"step": step / per_step, "updates": step, "seed": seed, "training": 100.0 * seed}
            | {"seconds": step / 100}
            for step in range(1000, steps + 5001, 1000)
            for seed in (1, 9)
        ]
    known += [row | other for row in known for other in ({"series": "t"}, {"seed": 10}, {"task": "u"})]
    told = table(options, task, known).splitlines()
    assert len(told) == 4  # no row for what was not tried
    for line, name in zip(told[2:], ("preset", "one_environment"), strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[:2] == [f"`{name}`", "100, 900"]
        assert cells[-4:] == ["500", "-, 5", "-, -", f"{steps / 100:.0f} s"]


def test_a_trial_goes_into_the_table_round_by_round(tmp_path, monkeypatch):
    def go_on(run, folder):
        made = [
            {"step": 10 * k, "seed": 3, "updates": k, "train/return": 1.0, "seconds": 1.0} for k in (1, 2)
        ]
        storage.write_bytes(folder / "metrics.jsonl", "\n".join(map(storage.to_json, made)).encode())

    monkeypatch.setattr(trials, "go_on", go_on)
    options = Options(seed=3, seeds=1, steps=2_500, runs=tmp_path, results=tmp_path / "kept", series="s")
    trials.train(options, "cheetah_walk", "width_64")
    first, second = records.read(options.results / records.TRIALS)
    assert (first["trial"], first["step"], second["step"]) == ("width_64", 10, 20)
    assert first["changes"] == "learner.width=64 lr_actor_final=null steps=10000"
