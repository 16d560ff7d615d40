import numpy as np
import pytest

import sfm
from sfm import api
from sfm.config import overridden
from sfm.errors import SfmError
from sfm.presets import preset
from sfm.run import Run
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
    [(3, "env must be a task name, .*, not a int"), (dict, "makes a dict, not an environment")],
)
def test_what_is_no_environment_is_refused(world, message, tmp_path):
    with pytest.raises(SfmError, match=message):
        sfm.train(world, walk_to_half(0.0), folder=tmp_path / "run", **QUICK)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kwargs", [[1], {"k": float("nan")}, {"k": object()}, {("a", "b"): 1}])
def test_arguments_that_a_run_could_not_remember_are_refused(kwargs, tmp_path):
    with pytest.raises(SfmError, match="env_kwargs must be a dict of what JSON can say"):
        sfm.train("Pendulum-v1", np.zeros((9, 3)), env_kwargs=kwargs, folder=tmp_path / "run", **QUICK)
    assert not (tmp_path / "run").exists()


def test_unknown_presets_suggest_near_ones(tmp_path):
    with pytest.raises(SfmError, match="sfm-td3"):
        sfm.train("probe_point", walk_to_half(0.0), preset="smf-td3", folder=tmp_path / "run")


def test_a_whole_configuration_is_one_way_to_say_it(tmp_path, point_file, monkeypatch):
    config = overridden(preset("fast"), {"task": "probe_point", **QUICK})
    seen = []

    def stop(self, reporter, **logs):
        seen.append((self.config, self.demos.length.tolist(), logs))
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "train", stop)
    ways = (
        {"env": "probe_point", "demos": point_file, "preset": "fast", **QUICK},
        {"demos": point_file, "config": config},
        {"demos": point_file, "config": preset("fast", task="probe_point"), **QUICK},
        {"env": "probe_point", "demos": point_file, "config": preset("fast", task="other"), **QUICK},
    )
    for i, way in enumerate(ways):
        with pytest.raises(KeyboardInterrupt):
            sfm.train(folder=tmp_path / str(i), **way)
    assert seen == 4 * [(config, [20, 20, 20], {"tensorboard": False, "wandb": False})]
    with pytest.raises(KeyboardInterrupt):
        sfm.train(demos=point_file, demo=1, config=config, folder=tmp_path / "one")
    assert seen[-1][1] == [20]


def test_what_is_not_one_configuration_is_refused(tmp_path):
    with pytest.raises(SfmError, match="a preset or a whole config, not both"):
        sfm.train("probe_point", preset="fast", config=preset("fast"), folder=tmp_path / "run")
    with pytest.raises(SfmError, match=r"which task\? Give it as env, or in config"):
        sfm.train(config=preset("fast"), folder=tmp_path / "run")


def test_a_fork_changes_settings_by_their_dotted_names(tmp_path, monkeypatch):
    old = Run(tmp_path, preset("fast"), None)
    seen = []

    def stop(source, folder, config, note):
        seen.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "reopen", lambda folder, env: old)
    monkeypatch.setattr(api, "fork_run", stop)
    with pytest.raises(KeyboardInterrupt):
        sfm.fork(tmp_path, tmp_path / "new", {"learner.lr_actor": 1.0}, gamma=0.5)
    assert seen == [overridden(old.config, {"learner.lr_actor": 1.0, "gamma": 0.5})]


def test_demonstrations_and_numbers_in_many_forms(tmp_path, monkeypatch):
    one, seen = walk_to_half(-1.0), []

    def stop(self, reporter, **logs):
        seen.append((self.demos.obs.shape, self.config.seed, self.config.schedule.steps))
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "train", stop)
    numbers = QUICK | {"steps": 1.2e2, "seed": np.int64(3), "gamma": np.float32(0.9)}
    for i, demos in enumerate((np.stack([one, one]), (one, one), [one, one], (one.tolist(), one.tolist()))):
        with pytest.raises(KeyboardInterrupt):
            sfm.train("probe_point", demos, folder=tmp_path / str(i), progress=False, **numbers)
    assert seen == 4 * [((2, 21, 1), 3, 120)]
    with pytest.raises(SfmError, match="demos must be a path, Demos, an array of states or a list"):
        sfm.train("probe_point", 3, folder=tmp_path / "x", **QUICK)
    with pytest.raises(SfmError, match=r"steps must be int, not 1\.5"):
        sfm.train("probe_point", one, folder=tmp_path / "x", **QUICK | {"steps": 1.5})
    assert len(sfm.evaluate(lambda obs: 0 * obs, "probe_point", np.int64(2), np.int64(1))) == 2


def test_progress_is_shown_unless_silenced(tmp_path, capsys):
    sfm.train("probe_point", walk_to_half(-1.0), folder=tmp_path / "a", **QUICK)
    out = capsys.readouterr().out
    assert out.startswith(f"run    {tmp_path / 'a'}\nstep")
    sfm.resume(tmp_path / "a", steps=1.6e2, progress=False)
    assert capsys.readouterr().out == ""


def test_returns_are_kept_and_bad_demonstrations_only_forced(tmp_path, capsys):
    obs = 1000 * walk_to_half(-1.0)
    with pytest.raises(SfmError, match="the demonstrations do not fit 'probe_point'"):
        sfm.train("probe_point", obs, folder=tmp_path / "a", **QUICK)
    assert not (tmp_path / "a").exists()
    demos = sfm.Demos.from_list([obs, obs], reward_list=[np.full(20, 0.5), np.full(20, 1.0)])
    result = sfm.train("probe_point", demos, folder=tmp_path / "a", force=True, **QUICK)
    assert "error: " in capsys.readouterr().out
    assert api.expert_return(result.folder) == 15.0
    assert api.find_demos(demos, result.config, 1)[0].returns.tolist() == [20.0]
