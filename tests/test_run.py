import dataclasses
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sfm
from sfm import api, stopping, storage
from sfm.config import BCConfig, FeatureConfig, IQConfig, SFMConfig, StochasticConfig, TD3Config, TD7Config
from sfm.demos import Demos
from sfm.errors import SfmError
from sfm.folders import alone
from sfm.reporter import Silent
from sfm.run import Run, create, fork, reopen
from sfm.training.checkpoint import Checkpoints
from sfm.training.learn import Learning
from sfm.training.logs import read_rows
from tests.conftest import TINY, tiny, walk_to_half


def arrays_of(folder: Path) -> dict[str, np.ndarray]:
    return Checkpoints(folder / "checkpoints").load()[1]


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


def comparable(folder: Path) -> list[dict]:
    """The log without wall-clock times."""
    rows = read_rows(folder / "metrics.jsonl")
    return [{k: v for k, v in row.items() if not k.endswith("seconds")} for row in rows]


class StopAfter(Silent):
    """A reporter that kills the run like Ctrl-C does, in the middle of things."""

    def __init__(self, rounds: int):
        self.left = rounds

    def round(self, rows, config) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A run to its end, for tests that copy it or change nothing."""
    demos = Demos.from_list([walk_to_half(x) for x in (-1.0, 0.0, 1.0)])
    run = create(tmp_path_factory.mktemp("trained") / "run", TINY, demos)
    assert run.train(Silent())
    return run.folder


@pytest.fixture
def old(trained, tmp_path) -> Run:
    return reopen(shutil.copytree(trained, tmp_path / "old"))


LEARNERS = {
    "td3": TINY,
    "td7": tiny(learner=TD7Config(width=16, embedding=16, target_interval=10)),
    "stochastic": tiny(learner=StochasticConfig(width=16)),
}


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_killed_run_resumes_bit_for_bit(kind, tmp_path, point_demos):
    """It was killed with the rows of a round logged, and in them an evaluation of an earlier step, but not
    saved."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert create(whole, LEARNERS[kind], point_demos).train(Silent())
    with pytest.raises(KeyboardInterrupt):
        create(broken, LEARNERS[kind], point_demos).train(StopAfter(rounds=2))
    assert reopen(broken).train(Silent())
    assert_same(arrays_of(whole), arrays_of(broken))
    assert comparable(whole) == comparable(broken)


def test_a_run_that_is_asked_to_stop_in_a_long_round_says_so_and_stops_there(
    tmp_path, point_demos, monkeypatch
):
    """It goes on to the bit, also from that very checkpoint once more, after a kill."""
    whole, broken, config = tmp_path / "whole", tmp_path / "broken", tiny(save_seconds=1e6)
    monkeypatch.setattr(stopping, "PATIENCE", 0.0)
    assert create(whole, config, point_demos).train(Silent())
    calls, told, do = 0, threading.Event(), Learning._next

    def interrupted(self):
        nonlocal calls
        do(self)
        calls += 1
        if calls == 6:  # in the second round that has updates
            signal.raise_signal(signal.SIGINT)

    class Told(Silent):
        def note(self, message):
            assert message.startswith("stopping: what is under way is finished and saved")
            told.set()

    monkeypatch.setattr(Learning, "_next", interrupted)
    assert not create(broken, config, point_demos).train(Told())
    assert told.wait(10)
    assert Checkpoints(broken / "checkpoints").load()[2]["half"]
    with pytest.raises(KeyboardInterrupt):
        reopen(broken).train(StopAfter(rounds=1))
    assert reopen(broken).train(Silent())
    assert_same(arrays_of(whole), arrays_of(broken))
    assert comparable(whole) == comparable(broken)


def test_a_run_killed_before_its_first_checkpoint_starts_over(tmp_path, point_demos):
    config = tiny(save_seconds=1e6)
    with pytest.raises(KeyboardInterrupt):
        create(tmp_path / "run", config, point_demos).train(StopAfter(rounds=3))
    told = []
    reporter = Silent()
    reporter.note = told.append
    assert reopen(tmp_path / "run").train(reporter)
    assert any("starts over" in message for message in told)
    steps = [(row["step"], "eval/kept" in row) for row in comparable(tmp_path / "run")]
    assert steps == sorted(set(steps))


def test_a_run_is_trained_by_one_process_at_a_time(tmp_path, point_demos):
    run = create(tmp_path / "run", TINY, point_demos)
    with alone(run.folder), pytest.raises(SfmError, match="is being trained by another process"):
        run.train(Silent())


def test_what_a_run_needs_to_go_on(old):
    with pytest.raises(SfmError, match="is at step 160 already: --steps 60 lies behind it"):
        reopen(old.folder, steps=60)
    (old.folder / "demos.npz").unlink()
    (judged,) = api.finish(old.folder, episodes=1, video=False, note=print).values()  # to judge it, nothing
    assert np.isnan(judged.likeness)
    with pytest.raises(SfmError, match=r"demos\.npz is missing"):
        reopen(old.folder).train(Silent())


def test_a_reporter_is_told_of_the_beginning_and_the_end_whatever_happens(tmp_path):
    told = []

    class Told(Silent):
        def begin(self, folder, config):
            told.append((folder, config))

        def end(self):
            told.append("end")

    with pytest.raises(SfmError, match=r"demos\.npz is missing"):
        Run(tmp_path, TINY, None).train(Told())
    assert told == [(tmp_path, TINY), "end"]


def test_a_fork_goes_on_from_a_copy(old, tmp_path):
    before = arrays_of(old.folder)
    same, other = tmp_path / "same", tmp_path / "other"
    longer = dataclasses.replace(TINY, schedule=dataclasses.replace(TINY.schedule, steps=240))
    assert fork(old, same, longer, print).train(Silent())
    assert fork(old, other, dataclasses.replace(longer, gamma=0.5), print).train(Silent())
    assert_same(before, arrays_of(old.folder))
    assert reopen(old.folder, steps=240).train(Silent())
    assert_same(arrays_of(same), arrays_of(old.folder))  # nothing changed: as if it had been resumed
    assert comparable(same) == comparable(old.folder)
    with pytest.raises(AssertionError):
        assert_same(arrays_of(other), arrays_of(old.folder))
    assert reopen(other).config.gamma == 0.5


def test_a_run_whose_last_round_went_beyond_its_steps_can_be_forked(tmp_path, point_demos):
    old = create(tmp_path / "old", tiny(steps=150), point_demos)
    assert old.train(Silent())
    assert max(old.checkpoints.steps()) == 160
    told, reporter = [], Silent()
    reporter.note = told.append
    assert fork(old, tmp_path / "new", old.config, print).train(reporter)
    assert told[-1].startswith("its 150 steps are done, so nothing is trained; more of them go on: ")


def test_what_a_fork_cannot_change(old, tmp_path):
    for changed, message in (
        (dataclasses.replace(TINY, task="probe_chain"), "a fork keeps task, .*; task is probe_point in"),
        (dataclasses.replace(TINY, seed=7), "a fork keeps .*; seed is 0 in"),
        (tiny(envs=1, steps=300), "schedule.envs is 2 in"),
        (tiny(replay=40, steps=300), "of the replay, and this one has"),
        (
            dataclasses.replace(TINY, learner=dataclasses.replace(TINY.learner, width=32)),
            "belongs to another configuration",
        ),
        (dataclasses.replace(TINY, schedule=dataclasses.replace(TINY.schedule, steps=60)), "lies behind it"),
    ):
        with pytest.raises(SfmError, match=message):
            fork(old, tmp_path / "new", changed, print)
    assert not (tmp_path / "new").exists()
    with pytest.raises(SfmError, match="already exists"):
        fork(old, old.folder, TINY, print)


def test_a_run_stopped_before_its_last_policies_were_written_has_them_when_resumed(old):
    files = {path: path.read_bytes() for path in (old.folder / "policies").iterdir()}
    stale, missing = sorted(files)
    stale.write_bytes(missing.read_bytes())
    missing.unlink()
    assert reopen(old.folder).train(Silent())
    assert {path: path.read_bytes() for path in (old.folder / "policies").iterdir()} == files


def test_sigkill_at_any_moment_loses_nothing(tmp_path, point_demos):
    config = tiny(steps=400)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    create(whole, config, point_demos).train(Silent())
    create(broken, config, point_demos)
    script = "from sfm.reporter import Silent; from sfm.run import *; "
    script += f"reopen(Path({str(broken)!r})).train(Silent())"
    child = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 60
    while not list(broken.glob("checkpoints/*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert reopen(broken).train(Silent())
    assert_same(arrays_of(whole), arrays_of(broken))


def test_a_damaged_checkpoint_is_noticed_and_the_previous_one_used(old, tmp_path):
    seen: list[str] = []

    class Notes(Silent):
        def note(self, message):
            seen.append(message)

    folder = old.folder
    expected = arrays_of(folder)
    newest = max(folder.glob("checkpoints/*.safetensors"))
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 1
    newest.write_bytes(data)
    copied: list[str] = []
    fork(reopen(folder), tmp_path / "copy", TINY, copied.append)
    assert any("damaged" in note for note in copied)
    assert reopen(folder).train(Notes())
    assert any("damaged" in note for note in seen)
    assert_same(expected, arrays_of(folder))


def test_the_log_has_a_row_per_round_and_evaluations(tmp_path, point_demos):
    run = create(tmp_path / "run", TINY, point_demos)
    run.train(Silent())
    judged = [row for row in run.rows if "eval/kept" in row]
    assert [row["step"] for row in run.rows if row not in judged] == [40, 80, 120, 160]
    assert [(row["step"], row["updates"]) for row in judged] == [(40, 0), (160, 120)]
    assert run.rows[-1] is judged[-1]
    (last,) = api.finish(run.folder, episodes=2, video=False, note=print).values()  # as many as along the way
    assert judged[-1]["eval/kept"] == pytest.approx(last.returns.mean())
    assert judged[-1]["likeness/kept"] == last.likeness
    assert all(np.isfinite(row["gap"]) for row in run.rows if "gap" in row)


def test_a_run_of_an_earlier_version_is_evaluated_and_drawn_but_not_resumed(tmp_path, point_demos):
    """The kept policy was called the checkpoint, in files and in rows."""
    run = create(tmp_path / "run", tiny(seeds=2), point_demos)
    run.train(Silent())
    policies, log = run.folder / "policies", run.folder / "metrics.jsonl"
    judged = api.finish(run.folder, episodes=2, video=False, note=print)
    kept = [sfm.load_policy(run.folder, seed=seed).meta for seed in (0, 1)]
    for seed in (0, 1):
        (policies / f"kept_seed{seed}.safetensors").rename(policies / f"checkpoint_seed{seed}.safetensors")
    log.write_text(log.read_text().replace("eval/kept", "eval/checkpoint"))
    assert read_rows(log) == run.rows
    for which in ("kept", "checkpoint"):
        for seed in (0, 1):
            assert sfm.load_policy(run.folder, which=which, seed=seed).meta == kept[seed]
        assert sfm.load_policy(run.folder, which=which).meta["seed"] == 0
    (run.folder / "curve.png").unlink()
    again = api.finish(run.folder, episodes=2, video=False, note=print)
    assert all(np.array_equal(judged[seed].returns, again[seed].returns) for seed in (0, 1))
    assert (run.folder / "curve.png").exists()
    newest = max(run.folder.glob("checkpoints/*.safetensors"))
    arrays, meta = storage.read_arrays(newest)
    storage.write_arrays(newest, arrays, {**meta, "format": 4})
    with pytest.raises(SfmError, match="written by another version"):
        reopen(run.folder).train(Silent())


def test_a_folder_in_use_is_refused(tmp_path, point_demos):
    create(tmp_path / "run", TINY, point_demos)
    with pytest.raises(SfmError, match="already exists: continue it with 'sfm resume"):
        create(tmp_path / "run", TINY, point_demos)


def test_demonstrations_of_another_dimension_are_refused_before_a_folder_is_made(tmp_path, point_demos):
    config = dataclasses.replace(TINY, task="walker_walk")
    with pytest.raises(SfmError, match="states have 1 dimensions, the environment has 24"):
        create(tmp_path / "run", config, point_demos)
    assert not (tmp_path / "run").exists()


def test_missing_demonstrations_are_asked_for(tmp_path):
    with pytest.raises(SfmError, match="--demos"):
        create(tmp_path / "run", TINY, None)


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({"objective": IQConfig(), "preset": "iq-learn"}, "iq-learn"),
        ({"objective": BCConfig(), "preset": ""}, "bc"),
        ({"warm_start": "bc"}, "--warm-start bc"),
    ],
)
def test_missing_actions_are_asked_for(changes, who, tmp_path, point_demos, acted_demos):
    config = tiny(**changes)
    with pytest.raises(SfmError, match=f"^{who} needs the expert's actions.* give --demos with actions"):
        create(tmp_path / "run", config, point_demos)
    wide = acted_demos._replace(action=np.tile(acted_demos.action, 3))
    with pytest.raises(SfmError, match="actions have 3 dimensions, the environment has 1"):
        create(tmp_path / "run", config, wide)
    with pytest.raises(SfmError, match=r"actions reach 2, but here they lie in \[-1, 1\]"):
        create(tmp_path / "run", config, acted_demos._replace(action=2 * np.ones_like(acted_demos.action)))
    assert not (tmp_path / "run").exists()
    create(tmp_path / "run", config, acted_demos)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 40}, "40 steps train nothing: the first 40 act at random .* give more --steps, or fewer"),
        ({"steps": 60, "updates_per_step": 0.2}, "they earn 8 updates, which come by the 10"),
        ({"steps": 30, "task": "probe_chain"}, "30 steps train nothing: the first 40 act"),
    ],
)
def test_a_run_too_short_to_learn_anything_is_refused(changes, message, tmp_path, point_demos):
    """Rounds of `probe_point` are of 40 steps, as many as its random ones."""
    with pytest.raises(SfmError, match=message):
        create(tmp_path / "run", tiny(**changes), point_demos)
    assert not (tmp_path / "run").exists()
    create(tmp_path / "run", tiny(steps=60), point_demos)


def test_a_checkpoint_of_another_version_is_refused(old):
    newest = max(old.folder.glob("checkpoints/*.safetensors"))
    arrays, meta = storage.read_arrays(newest)
    storage.write_arrays(newest, arrays, {**meta, "format": 99})
    with pytest.raises(SfmError, match="another version"):
        reopen(old.folder).train(Silent())


def test_divergence_says_what_diverged_and_keeps_the_last_good_checkpoint(tmp_path, point_demos):
    features = FeatureConfig(dim=8, width=16, depth=2, head_width=16, lr=1e30)
    config = tiny(objective=SFMConfig(features=features))
    run = create(tmp_path / "run", config, point_demos)
    with pytest.raises(SfmError, match=r"diverged: .*feature_loss"):
        run.train(Silent())
    step, arrays, *_ = run.checkpoints.load()
    assert step >= 40
    assert all(np.isfinite(a).all() for a in arrays.values() if a.dtype == np.float32)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(SfmError, match="not a run folder"):
        reopen(tmp_path)


def test_a_run_that_goes_on_from_a_policy_keeps_a_copy_of_it(old, tmp_path, point_demos):
    config = tiny(warm_start=str(old.folder), random_steps=0)
    run = create(tmp_path / "next", config, point_demos)
    (old.folder / "policies" / "kept_seed0.safetensors").unlink()  # from here on the copy is what counts
    assert run.train(Silent())
    kept = sfm.load_policy(tmp_path / "next" / "start.safetensors")
    assert kept.meta["preset"] == "tiny"
    again = create(
        tmp_path / "again",
        tiny(warm_start=str(run.folder / "start.safetensors"), random_steps=0),
        point_demos,
    )
    assert again.train(Silent())
    assert comparable(tmp_path / "again") == comparable(tmp_path / "next")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"warm_start": "walker_walk"}, "sees 24 numbers and gives 6, the environment has 1 and 1"),
        ({"warm_start": "nowhere"}, "nowhere not found; by name there are"),
        ({"learner": TD3Config(width=8)}, "other networks than this run would have: learner.width=16$"),
        ({"learner": StochasticConfig(width=16)}, "would have: learner.kind=td3$"),
        ({"normalise": "all"}, "would have: normalise=none$"),
        ({"learner": TD3Config(width=16, actor_norm=True)}, "would have: learner.actor_norm=False$"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_before_anything_is_written(
    changes, message, trained, tmp_path, point_demos
):
    with pytest.raises(SfmError, match=message):
        create(tmp_path / "next", tiny(**({"warm_start": str(trained)} | changes)), point_demos)
    assert not (tmp_path / "next").exists()
