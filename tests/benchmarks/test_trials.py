import numpy as np
import pytest

from benchmarks.trials import (
    TASKS,
    TRIALS,
    Options,
    changes_of,
    folder_of,
    kept,
    learned,
    table,
    training_return,
)
from sfm import api, storage
from sfm.presets import preset


def rows(returns, **last):
    made = [
        {"step": 1000 * (i + 1), "seed": 11, "train/return": value, "seconds": 2.0 * (i + 1)}
        for i, value in enumerate(returns)
    ]
    made[-1] |= last
    return made


@pytest.mark.parametrize("name", TRIALS)
@pytest.mark.parametrize("of", ["fast", "fast-quadruped"])
def test_every_trial_changes_what_it_says(name, of):
    changed, base = (api.overridden(preset(of), changes_of(n, of)) for n in (name, "preset"))
    assert (changed == base) == (name == "preset")
    assert base.learner.lr_actor_final is None


def test_learned_is_when_five_episodes_in_a_row_are_good():
    assert learned(rows([500, 0, 0, 0, 0, 400, 500, 500, 500, 500]), 480) == 10_000
    assert np.isnan(learned(rows([1000, 0, 0, 0, 0, 0, 1000]), 480))


def test_kept_asks_the_checkpoint_policy():
    assert kept(rows([0, 0, 0], **{"eval/checkpoint": 800.0, "eval/current": 0.0}), 790) == 3000
    assert np.isnan(kept(rows([900, 900, 900], **{"eval/checkpoint": 100.0, "eval/current": 900.0}), 790))


def test_training_return_is_a_mean_of_a_part():
    assert training_return(rows([1, 2, 3, 4]), 1000, 3000) == 2.5


def test_table_tells_seeds_apart_and_counts_steps_by_updates(tmp_path):
    task, (_, steps) = next(iter(TASKS.items()))
    options = Options(["preset", "width_64", "one_environment"], results=tmp_path)
    for name, share in (("preset", 1.0), ("one_environment", 0.25)):
        lines = [
            {"step": step / share, "seed": seed, "train/return": 100.0 * seed, "seconds": step / 100}
            for step in range(1000, steps + 5001, 1000)
            for seed in (1, 9)
        ]
        folder = folder_of(options, task, name)
        storage.write_bytes(folder / "metrics.jsonl", "\n".join(map(storage.to_json, lines)).encode())
        storage.write_json(folder / "config.json", {"schedule": {"updates_per_step": share}})
    told = table(options, task).splitlines()
    assert len(told) == 4  # no row for what was not tried
    for line, name in zip(told[2:], ("preset", "one_environment"), strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[:2] == [f"`{name}`", "100, 900"]
        assert cells[-4:] == ["500", "-, 5", "-, -", f"{steps / 100:.0f} s"]
