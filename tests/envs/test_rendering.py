"""Pictures where OpenGL works, one clear sentence where it does not."""

import os
import subprocess
import sys

import numpy as np
import pytest

from sfm.envs import make
from sfm.envs.rendering import choose_backend
from sfm.errors import SfmError


@pytest.fixture
def _opengl():
    try:
        choose_backend()
    except SfmError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_opengl")
@pytest.mark.parametrize("name", ["cheetah_run", "walker_flip", "quadruped_jump"])
def test_frames_show_the_state_and_leave_it_alone(name):
    env, unseen = make(name), make(name)
    env.reset(0), unseen.reset(0)
    before = env.render()
    assert (before.shape, before.dtype) == ((240, 320, 3), np.uint8)
    assert before.std() > 10
    for _ in range(20):
        action = np.ones(env.action_dim)
        np.testing.assert_array_equal(env.step(action)[0], unseen.step(action)[0])
    assert not np.array_equal(env.render(), before)
    assert env.render(720, 1280).shape == (720, 1280, 3)
    env.close()
    np.testing.assert_array_equal(env.render(), env.render())
    env.close()


@pytest.mark.usefixtures("_opengl")
def test_gymnasium_simulations_use_the_same_backend():
    env = make("Hopper-v5")
    env.reset(0)
    assert env.render(100, 120).shape == (100, 120, 3)
    env.close()


def run(code, **environment):
    """A fresh process: the backend is chosen once in each."""
    clean = {key: value for key, value in os.environ.items() if key not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True)


def test_a_backend_that_does_not_work_is_one_clear_error():
    done = run("from sfm.envs.rendering import choose_backend as c; c()", MUJOCO_GL="nonsense")
    message = done.stderr.splitlines()[-1]
    assert message.startswith("sfm.errors.SfmError: cannot render: MUJOCO_GL=nonsense does not work here.")
    assert "libegl1 libegl-mesa0 libgl1-mesa-dri" in message
    assert "libosmesa6" in message


def test_training_never_touches_opengl_and_is_silent():
    use = "from sfm.envs import make; make('cheetah_walk').reset(0)"
    done = run(f"{use}; import os; print(os.environ.get('MUJOCO_GL'))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")
