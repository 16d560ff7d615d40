"""Every command of the README and of the page on demonstrations runs, the long ones with few steps."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import sfm
from sfm.cli import main
from sfm.demos import bundled
from sfm.presets import preset
from tests.envs.mjcf.models import PLANAR, written

ROOT = Path(__file__).parent.parent
FEW = {  # an episode at random, and one more with updates
    "schedule.envs": 1,
    "schedule.random_steps": 900,
    "schedule.updates_per_step": 0.5,
    "schedule.eval_episodes": 1,
    "schedule.batch": 8,
    "learner.width": 8,
    "objective.features.dim": 8,
    "objective.features.width": 8,
    "objective.features.head_width": 8,
}
MODULE = """
import gymnasium
from gymnasium.envs.classic_control import PendulumEnv
gymnasium.register("MyEnv-v0", PendulumEnv, max_episode_steps=1000)
"""
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """The words of each `sfm ...` in the blocks of a page, without comments."""
    lines = "".join(BLOCK.findall((ROOT / page).read_text())).replace("\\\n", " ").splitlines()
    parts = [part.strip() for line in lines for part in line.partition(" #")[0].split(";")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("sfm ")]


def run(words: list[str]) -> None:
    try:
        status = main(words)
    except SystemExit as end:  # --help ends so
        status = end.code
    assert not status, words


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """The files that the pages name, and a run."""
    folder = tmp_path_factory.mktemp("commands")
    found = bundled.bundled("walker_walk")
    assert found is not None
    np.savez(folder / "my_demo.npz", obs=found.obs[0])
    env = sfm.make_env("HalfCheetah-v5")
    states = [env.reset(0)] + [env.step(np.sin(np.arange(6) + t / 5))[0] for t in range(400)]
    np.savez(folder / "halfcheetah.npz", obs=np.stack(states))
    robot = sfm.make_env(str(written(folder, PLANAR)))
    np.savez(
        folder / "clip.npz", obs=np.stack([robot.step(np.zeros(robot.action_dim))[0] for _ in range(99)])
    )
    (folder / "mymodule.py").write_text(MODULE)
    pendulum = sfm.make_env("Pendulum-v1")
    np.savez(folder / "pendulum.npz", obs=np.stack([pendulum.reset(seed) for seed in range(99)]))
    quick = {name.replace(".", "__"): value for name, value in FEW.items()}
    given = folder / "my_demo.npz"
    sfm.train("walker_walk", given, folder=folder / "RUN", steps=1001, progress=False, **quick)
    return folder


def test_the_readme(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    done = set()
    for words in commands("README.md"):
        done.add(words[0])
        if words[0] == "train" and "--help" not in words:
            few = [f"--{name.replace('_', '-')}={value}" for name, value in FEW.items()]
            if "mymodule:MyEnv-v0" in words:  # a demonstration of its own
                words[words.index("my_demo.npz")] = "pendulum.npz"
            words = [*words, *few, "--steps", "1001", "--no-video", "--force"]
            words += ["--run", f"run{len(list(place.iterdir()))}"]
        elif words[0] == "fork":
            (steps,) = [int(word.removeprefix("steps=")) for word in words if word.startswith("steps=")]
            assert steps > preset("fast").schedule.steps  # of the run that `make train` left
            words = [*(word for word in words if not word.startswith("steps=")), "steps=3000", "--no-video"]
        elif words[0] == "eval":
            words = [*words[:-1], "1", "--no-video"]
        elif words[0] == "resume":
            words = [*words, "--no-video"]
        elif words[0] in ("runs", "compare", "report", "sweep"):  # their own tests run them
            words = [words[0], "--help"]
        run(words)
    assert done >= {"train", "resume", "fork", "eval", "presets", "tasks", "demos"}


def test_the_page_on_demonstrations(place, monkeypatch):
    monkeypatch.chdir(place)
    names = {"PATH": "my_demo.npz", "TASK": "walker_walk", "SOURCE": "my_demo.npz"}
    done = set()
    for number, words in enumerate(commands("docs/demonstrations.md")):
        done.add(words[1])
        names["TARGET"] = f"{number}.csv"
        words = [names.get(word, word) for word in words]
        if words[1] == "collect":
            words += ["--count", "1", "--candidates", "1"]
        if words[1] in ("list", "inspect", "doctor", "convert", "collect"):
            run(words)
    assert done >= {"list", "inspect", "doctor", "convert", "collect"}


def test_the_readmes_python(place, monkeypatch):
    monkeypatch.chdir(place)
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert "steps=50_000" in block
    few = {name.replace(".", "__"): value for name, value in FEW.items()} | {"steps": 1001, "progress": False}
    given = {"few": few, "observation": sfm.make_env("walker_walk").reset(0)}
    exec(block.replace("steps=50_000", "**few"), given)
    assert given["action"].shape == (6,)
