"""Demonstrations of the study's plans."""

import numpy as np
import pytest

from benchmarks.study import altered
from sfm import load_demos
from sfm.demos.matching import check_fit
from sfm.envs import make
from sfm.presets import preset

NAMES = altered()


@pytest.mark.parametrize("name", ["2", "5", "second", "short"])
def test_altered_demonstrations_are_taken(name):
    """Those at the environment's rate keep the simulator's states, in which environments begin."""
    demos = NAMES[name](load_demos("walker_run"))  # pyright: ignore
    env, motion = make("walker_run"), demos.motion()
    check_fit(preset("general"), demos, env)
    assert (motion is None) == (name == "second")
    if motion is not None:
        seen = env.observe(motion.qpos[-1], motion.qvel[-1])  # pyright: ignore
        np.testing.assert_allclose(seen, demos.obs[-1, demos.length[-1] - 1], atol=1e-3)
