"""An environment of one's own, by the shell alone."""

import json
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import sfm as library
from sfm.cli import main
from sfm.training.logs import read_rows
from tests.cli.helpers import QUICK, command, says
from tests.envs import own_worlds

SHORT = [*QUICK, "--no-video"]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder, gone to, with a module in it that registers an environment, and demonstrations for it."""
    source = Path(own_worlds.__file__).read_text().replace("tests.envs.own_worlds:", "my_worlds:")
    (tmp_path / "my_worlds.py").write_text(source.replace("OwnSlide-v0", "MySlide-v0"))
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "demos.npz", obs=rng.uniform(-1, 1, (11, 3)).astype("f4"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    yield tmp_path
    forget()


def forget():
    """As a new process: it has not heard of the module, nor of what that registers."""
    sys.modules.pop("my_worlds", None)
    for name in ("MySlide-v0", "Scripted-v0"):
        gymnasium.registry.pop(name, None)


def run(*args):
    forget()
    assert main([str(arg) for arg in args]) == 0


def wall(file):
    """Of the world that a demonstration was collected in: a place, and how far the wall is from there."""
    obs = np.load(file)["obs"]
    assert obs.shape == (1, 11, 3)
    return obs[..., 0] + obs[..., 1]


def test_a_module_of_ones_own_is_found_by_every_command(workplace, capsys):
    words = "--env-kwargs", '{"wall": 2.0}', "--demos", "demos.npz", "--run", "run"
    run("train", "my_worlds:MySlide-v0", *words, *SHORT)
    assert json.loads((workplace / "run" / "config.json").read_text())["env_kwargs"] == '{"wall": 2.0}'
    run("eval", "run", "--episodes", "3", "--no-video")
    assert "over 3 episodes" in capsys.readouterr().out
    run("resume", "run", "--steps", "180", "--no-video")
    run("fork", "run", "other", "steps=200", "--no-video")
    assert [read_rows(workplace / of / "metrics.jsonl")[-1]["step"] for of in ("run", "other")] == [180, 200]
    for source, target in (("other", "a.npz"), ("other/policies/kept_seed0.safetensors", "b.npz")):
        run("demos", "collect", source, target, "--count", "1", "--candidates", "2")
        np.testing.assert_allclose(wall(target), 2.0, rtol=1e-5)
    capsys.readouterr()
    run("tasks", "my_worlds:MySlide-v0", "--env-kwargs", '{"wall": 2.0}')
    shown = capsys.readouterr().out
    assert "place[0][1]" in shown
    assert "time limit 10 steps" in shown


def test_a_run_says_where_its_module_is_missing(workplace, capsys, monkeypatch, tmp_path_factory):
    run("train", "my_worlds:MySlide-v0", "--demos", "demos.npz", "--run", "run", *SHORT)
    forget()
    sys.path.remove(str(workplace))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    capsys.readouterr()
    assert "there is no module 'my_worlds' in" in says(capsys, "eval", workplace / "run")


def test_a_run_made_in_python_goes_on_in_the_shell(workplace, monkeypatch):
    """By its id, which only a script has registered, and by an environment that has been made already."""
    settings = {"steps": 60, "random_steps": 20, "envs": 1, "updates_per_step": 1.0, "batch": 16, "chunk": 10}
    settings |= {"replay": 100, "learner__width": 16, "features__width": 16, "features__dim": 8, "gamma": 0.9}
    monkeypatch.syspath_prepend(workplace)
    import my_worlds  # pyright: ignore[reportMissingImports]

    gymnasium.register("Scripted-v0", "my_worlds:Slide", max_episode_steps=10, kwargs={"wall": 3.0})
    made = my_worlds.Half(gymnasium.make("Scripted-v0", wall=4.0), share=0.25)
    demos = np.load("demos.npz")["obs"]
    for name, env in (("id", "Scripted-v0"), ("made", made)):
        result = library.train(env, demos, folder=name, **settings)
        assert result.finished
        action, _ = result.policy.predict(made.reset(seed=0)[0])
        assert made.action_space.contains(action)
    for name, expected in (("id", 3.0), ("made", 4.0)):
        run("demos", "collect", name, f"{name}.npz", "--count", "1", "--candidates", "1")
        np.testing.assert_allclose(wall(f"{name}.npz"), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("my_wrlds:MySlide-v0",), "there is no module 'my_wrlds'"),
        (("tests.envs.own_worlds:OwnSlide-v0", "--env-kwargs", "{wall: 2}"), "must be a JSON object, as in"),
        (("tests.envs.own_worlds:OwnSlide-v0", "--env-kwargs", "[2]"), "must be a JSON object, as in"),
        (
            ("tests.envs.own_worlds:OwnSlide-v0", "--env-kwargs", '{"wall": NaN}'),
            "must be a JSON object, as in",
        ),
        (("CartPole-v1",), "has discrete actions"),
        (("probe_point", "--preset", ""), "--preset is empty: give it a value, or leave it out"),
        (("probe_point", "--preset="), "--preset is empty"),
        (("probe_point", "--demos", ""), "--demos is empty"),
        (("",), "an argument is empty"),
        (("probe_point", "--steps", "10"), "10 steps train nothing"),
    ],
)
def test_what_goes_wrong_with_an_environment_is_one_line(words, message, capsys, tmp_path, point_file):
    given = () if "--demos" in words else ("--demos", point_file)
    settings = () if any("--preset" in word for word in words) else SHORT[: SHORT.index("--steps")]
    assert message in says(capsys, "train", *words, *given, *settings, "--run", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_runs_that_begin_in_the_same_second_have_folders_of_their_own(tmp_path, point_file):
    """Three at once, each with a setting of its own: what is in a folder belongs together."""
    words = "train", "probe_point", "--demos", point_file, *SHORT, "--schedule.save-seconds"
    begun = [
        subprocess.Popen(command(*words, str(k)), cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for k in (1, 2, 3)
    ]
    said = [child.communicate(timeout=300)[0].split("\n")[0].split()[-1] for child in begun]
    assert [child.returncode for child in begun] == [0, 0, 0]
    assert len(set(said)) == 3
    for k, folder in enumerate(said, 1):
        config = json.loads((tmp_path / folder / "config.json").read_text())
        assert config["schedule"]["save_seconds"] == k
        assert read_rows(tmp_path / folder / "metrics.jsonl")[-1]["step"] == 160
