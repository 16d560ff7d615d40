import numpy as np
import pytest

import sfm
from sfm.errors import SfmError
from tests.conftest import walk_to_half

QUICK = {
    "features__width": 16,
    "features__dim": 8,
    "head_width": 16,
    "steps": 120,
    "envs": 1,
    "updates_per_step": 1.0,
    "random_steps": 40,
    "batch": 16,
    "chunk": 10,
    "replay": 1000,
    "gamma": 0.9,
    "eval_every": 60,
    "eval_episodes": 2,
    "learner__width": 16,
}


def test_train_and_resume_as_a_library(tmp_path):
    demos = [walk_to_half(-1.0), walk_to_half(1.0, steps=12)]
    result = sfm.train("probe_point", demos, folder=tmp_path / "run", **QUICK)
    assert result.finished
    assert set(result.returns) == {0}
    assert result.policy.predict(np.zeros(1))[0].shape == (1,)
    again = sfm.resume(result.folder)
    assert again.finished
    assert again.returns == result.returns
    other = sfm.fork(result.folder, tmp_path / "other", learner__explore_noise=0.05)
    assert other.finished
    assert other.rows == result.rows


def test_an_environment_of_ones_own(tmp_path):
    from sfm.envs import make

    def my_world():
        return make("probe_point")

    result = sfm.train(my_world, walk_to_half(0.0), folder=tmp_path / "run", **QUICK)
    assert result.finished


@pytest.mark.parametrize(
    ("world", "message"),
    [(3, "env must be a task name, .*, not a int"), (dict, "makes a dict, not an sfm.envs.Env")],
)
def test_what_is_no_environment_is_refused(world, message, tmp_path):
    with pytest.raises(SfmError, match=message):
        sfm.train(world, walk_to_half(0.0), folder=tmp_path / "run", **QUICK)
    assert not (tmp_path / "run").exists()


def test_unknown_presets_suggest_near_ones(tmp_path):
    with pytest.raises(SfmError, match="sfm-td3"):
        sfm.train("probe_point", walk_to_half(0.0), preset="smf-td3", folder=tmp_path / "run")
