"""The files that the pages name, small and made by the same commands that a reader would use."""

import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

import sfm
from sfm import measure
from sfm.demos import bundled, save
from sfm.envs.dmc import suite
from sfm.training import likeness
from tests.envs.mjcf.models import PLANAR, written
from tests.pages.blocks import ROOT, blocks

LIMIT = 250  # steps
BODY = """class MyEnv(gymnasium.Env):
    def __init__(self, k=0):
        import sfm

        self.inner = gymnasium.make("sfm/walker_walk-v0")
        self.observation_space, self.action_space = self.inner.observation_space, self.inner.action_space

    def reset(self, *, seed=None, options=None):
        return self.inner.reset(seed=seed, options=options)

    def step(self, action):
        return self.inner.step(action)
"""
MOTION = "Coordinates\nversion=1\ninDegrees=yes\nendheader\n"
ANGLES = ("pelvis_tilt", "hip_flexion_r", "hip_flexion_l", "knee_angle_r", "knee_angle_l", "ankle_angle_r")


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Shorter episodes of our tasks, and fewer of them: for what shows only that all goes through."""
    load = suite._load

    def load_short(*args):
        env = load(*args)
        env._step_limit = min(env._step_limit, LIMIT)
        return env

    patch.setattr(suite, "_load", load_short)
    patch.setattr(measure, "GAIT_EPISODES", 1)
    patch.setattr(likeness, "RANDOM_EPISODES", 1)


def module() -> str:
    """The one that docs/environments.md shows, whose class is the bundled task."""
    (text,) = [b.text for b in blocks(page("docs/environments.md")) if b.text.startswith("# mymodule.py\n")]
    shown = "class MyEnv(gymnasium.Env): ...\n"
    assert shown in text
    return text.replace(shown, BODY)


def page(name: str) -> str:
    return (ROOT / name).read_text()


def plan(text: str) -> str | None:
    """The first plan of a sweep on a page."""
    plans = [b.text for b in blocks(text) if b.language == "toml" and "tasks" in tomllib.loads(b.text)]
    return plans[0] if plans else None


def furnish(folder: Path) -> None:
    """Demonstrations, a robot, a clip and a module. A run is made later, where training is short."""
    found = bundled.bundled("walker_walk")
    assert found is not None
    np.savez(folder / "my_demo.npz", obs=found.obs[0])
    cheetah = sfm.make_env("HalfCheetah-v5")
    states = [cheetah.reset(0)] + [cheetah.step(np.sin(np.arange(6) + t / 5))[0] for t in range(400)]
    np.savez(folder / "halfcheetah.npz", obs=np.stack(states))
    robot = sfm.make_env(str(written(folder, PLANAR)))
    still = np.zeros(robot.action_dim)
    np.savez(folder / "clip.npz", obs=np.stack([robot.step(still)[0] for _ in range(99)]))
    (folder / "mymodule.py").write_text(module())
    time = np.arange(200) / 50
    angles = [10 * np.sin(2 * np.pi * time + phase) - 15 for phase in range(len(ANGLES))]
    rows = [" ".join(f"{x:.4f}" for x in row) for row in np.stack([time, *angles], 1)]
    (folder / "walk.mot").write_text(MOTION + "\n".join([" ".join(("time", *ANGLES)), *rows]))
    shutil.copytree(ROOT / "examples", folder / "examples")
    for task in ("walker_walk", "cheetah_walk", "quadruped_run"):  # of the plan in docs/sweeps.md
        (folder / "demos" / task).mkdir(parents=True)
        for seed in (0, 1, 2, 3, 4, 11):
            save(folder / "demos" / task / f"{seed}.npz", bundled.bundled(task))
