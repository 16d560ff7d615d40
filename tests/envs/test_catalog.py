"""Names: an unknown one is answered with the nearest, and knowing them costs no simulator."""

import subprocess
import sys

import pytest

from sfm.envs import make
from sfm.errors import SfmError


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("walker_wlak", "walker_walk"), ("Hoper-v5", "Hopper-v5"), ("probe_chian", "probe_chain")],
)
def test_unknown_names_suggest_the_nearest(wrong, right):
    with pytest.raises(SfmError, match=f"unknown task '{wrong}': did you mean .*{right}"):
        make(wrong)


def test_importing_the_package_imports_no_simulator():
    heavy = "{'dm_control', 'mujoco', 'jax'}"
    code = f"import sys, sfm.envs; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
