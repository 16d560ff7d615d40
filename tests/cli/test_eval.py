"""`sfm eval`: whom it judges, what it says and leaves."""

import json

import numpy as np

import sfm
from sfm.cli import main
from tests.cli.helpers import says
from tests.cli.helpers import sfm as cli
from tests.conftest import tiny


def test_random_actions_are_evaluated_on_a_task(capsys):
    """On the probe, 20 steps of a reward between -2.25 and 0; the same seed gives the same return."""
    for _ in range(2):
        assert main(["eval", "probe_point", "--random", "--episodes", "50"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert first.startswith("random actions: return -")
    assert first.endswith("over 50 episodes")
    assert -45 < float(first.split()[3]) < -4  # the best policy's is near -2
    assert "probe_point" in says(capsys, "eval", "probe_pont", "--random")


def test_what_random_actions_had_is_kept_where_asked(tmp_path, capsys):
    assert main(["eval", "probe_point", "--random", "--episodes", "3", "--out", str(tmp_path / "of")]) == 0
    kept = json.loads((tmp_path / "of" / "eval.json").read_text())
    assert kept["evaluated"] == "random actions"
    assert len(kept["returns"]) == 3
    assert f"return {kept['return']:.1f}" in capsys.readouterr().out


def test_a_run_a_policy_file_and_an_expert_are_evaluated(capsys, tmp_path, point_demos, monkeypatch):
    rewarded = point_demos._replace(reward=np.full(point_demos.obs.shape[:2], 0.5, np.float32)[:, :-1])
    config = tiny(envs=1, seeds=2)
    result = sfm.train(demos=rewarded, config=config, folder=tmp_path / "run", progress=False)
    assert capsys.readouterr().out == ""
    assert main(["eval", str(result.folder), "--episodes", "2"]) == 0
    shown = capsys.readouterr().out
    measured = json.loads((result.folder / "eval.json").read_text())
    assert [of["seed"] for of in measured["seeds"]] == [0, 1]
    assert measured["expert_return"] == 10.0
    best = max(measured["seeds"], key=lambda of: of["return"])["seed"]
    assert measured["video_seed"] == best
    assert f"video.mp4 (seed {best})" in shown
    assert "of the expert's 10.0" in shown

    file, out = result.folder / "policies" / "kept_seed1.safetensors", tmp_path / "out"
    assert main(["eval", str(file), "--episodes", "2", "--seed", "1", "--json", "--out", str(out)]) == 0
    shown = capsys.readouterr()
    printed = json.loads(shown.out)
    assert printed == json.loads((out / "eval.json").read_text())
    assert printed["seeds"][0]["returns"] == measured["seeds"][1]["returns"]  # seed 1, the same starts
    assert "video" in shown.err
    assert (out / "video.mp4").exists()

    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.rglob("*"))
    assert main(["eval", "walker_walk", "--episodes", "1"]) == 0
    shown = capsys.readouterr().out
    assert "score 1." in shown or "score 0.9" in shown
    assert "nothing written: --out FOLDER" in shown
    assert set(tmp_path.rglob("*")) == before
    assert "is not a run folder" in says(capsys, "eval", out)
    assert "by name there are cheetah_run" in says(capsys, "eval", "walker_wlak")


def test_warnings_of_other_libraries_are_theirs():
    """MuJoCo warns of a compiler attribute of this model, Gymnasium of its age."""
    for task in ("HalfCheetah-v5", "HalfCheetah-v4"):
        done = cli("eval", task, "--random", "--episodes", "1")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
