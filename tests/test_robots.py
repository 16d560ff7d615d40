"""A run in a robot's file: it keeps a copy, remembers how the environment was made, and tells no return."""

import dataclasses
import json

import numpy as np
import pytest

from sfm import api, folders
from sfm.cli import main
from sfm.config import Config, RewardConfig, RobotConfig
from sfm.demos import Demos, save
from sfm.envs import make
from sfm.envs.worlds import world
from sfm.errors import SfmError
from sfm.evaluation.playback import Playback
from sfm.policy import load_policy
from sfm.reporter import Silent
from sfm.robots import remembered, unmoved
from sfm.run import create, fork, reopen
from sfm.storage import read_json
from sfm.training.logs import read_rows
from tests.cli.helpers import says
from tests.conftest import tiny
from tests.envs.mjcf.models import ARM, written

HZ = 25.0
ROBOT = RobotConfig(control_hz=HZ, actuators="pd", seconds=0.8, start_noise=0.0)


def swing(path, robot: RobotConfig = ROBOT) -> Demos:
    """Both joints in sines of 1 Hz."""
    env = make(str(path), robot=robot)
    phase = 2 * np.pi * np.arange(61)[:, None] * env.control_timestep + [0.0, 1.0]
    qpos, qvel = 0.5 * np.sin(phase), np.pi * np.cos(phase)
    obs = np.array([env.observe(*state) for state in zip(qpos, qvel, strict=True)])
    return Demos.from_list([obs], None, "a swing", [qpos], [qvel])


def settings(path, **changes) -> Config:
    return dataclasses.replace(tiny(task=str(path), steps=120), robot=ROBOT, **changes)


def test_a_run_needs_the_file_no_more_and_goes_on_as_it_began(tmp_path, capsys):
    path = written(tmp_path, ARM)
    run = create(tmp_path / "run", settings(path), swing(path))
    assert run.train(Silent())
    path.unlink()
    again = reopen(tmp_path / "run", steps=160)
    env = again.make_env()
    assert (env.control_timestep, env.max_steps, env.action_dim) == (0.04, 20, 2)
    states = swing(tmp_path / "run" / "robot.zip").obs[0]
    assert min(np.abs(states - env.reset(1)).sum(1)) < 1e-4  # in a state of the motion
    assert again.train(Silent())
    rows = read_rows(tmp_path / "run" / "metrics.jsonl")
    judged = [row for row in rows if "eval/kept" in row]
    assert judged
    assert all(row["eval/kept"] is None and np.isfinite(row["likeness/kept"]) for row in judged)
    assert not any("train/return" in row for row in rows)
    assert main(["eval", str(tmp_path / "run"), "--episodes", "2", "--no-video"]) == 0
    told = capsys.readouterr().out
    assert "gait   the demonstration: 1.00 cycles per second\n" in told
    assert "gait   seed 0: " in told
    measured = read_json(tmp_path / "run" / "eval.json")
    assert measured["demonstration"] == {"frequency": pytest.approx(1.0, abs=0.02), "speed": None}
    assert {"frequency", "speed", "likeness"} <= measured["seeds"][0].keys()
    assert "seed 0: 2 episodes, without a reward, likeness " in told
    assert "return" not in told
    with pytest.raises(SfmError, match=r"a fork keeps .*; robot.control_hz is 25.0 in"):
        fork(again, tmp_path / "other", dataclasses.replace(again.config, robot=RobotConfig()), print)
    forked = fork(again, tmp_path / "other", dataclasses.replace(again.config, n_step=2), print)
    assert forked.make_env().action_dim == 2
    assert (tmp_path / "other" / "robot.zip").read_bytes() == (tmp_path / "run" / "robot.zip").read_bytes()


def test_a_part_is_matched_by_name(tmp_path):
    """The demonstration has angles alone, in another order, and of these --match takes one."""
    path = written(tmp_path, ARM)
    whole = swing(path)
    part = Demos.from_list([whole.obs[0][:, [1, 0]]])._replace(names=("joint1", "shoulder"))
    run = create(tmp_path / "run", settings(path, match=("should*",), objective=_visits()), part)
    training = reopen(run.folder).training()
    assert training.agent.spec.matched == (0,)
    np.testing.assert_array_equal(training.learning.demos.obs[0, :, 0], whole.obs[0][:, 0])
    assert training.learning.policies.current[0].actor.layers[0].weight.shape[0] == 4
    next(training.rounds())


def test_a_part_passes_the_doctor_and_a_policy_alone_knows_its_robot(tmp_path):
    path = written(tmp_path, ARM)
    part = Demos.from_list([swing(path).obs[0][:, [1, 0]]])._replace(names=("joint1", "shoulder"))
    config, notes = settings(path, objective=_visits()), Notes([])
    folder = api.train(config=config, demos=part, folder=tmp_path / "run", reporter=notes).folder
    told = []
    measured = api.measure(folder, episodes=1, video=False, note=told.append).told
    assert [line[:14] for line in told if line.startswith("gait")] == ["gait   seed 0:"]
    assert measured["demonstration"] is None  # angles alone do not tell how it went
    assert "frequency" in measured["seeds"][0]
    assert "warning: states have a part of the dimensions alone: joint1, shoulder" in notes.told
    env = remembered(load_policy(folder / "policies" / "kept_seed0.safetensors").meta).make()
    assert (env.control_timestep, env.max_steps, env.action_dim) == (0.04, 20, 2)
    waiting = dataclasses.replace(config, robot=dataclasses.replace(ROBOT, starts="clip", fall=0.5))
    assert unmoved(world(str(path)), waiting).make().action_dim == 2
    with pytest.raises(SfmError, match=r"robot.xml' takes no env-kwargs"):
        api.train(config=config, demos=part, env_kwargs={"k": 1})


def _visits():
    return dataclasses.replace(tiny().objective, match_from="visits")


def test_what_cannot_be_is_refused_before_a_folder_is_made(tmp_path):
    path = written(tmp_path, ARM)
    demos = swing(path)
    refusals = [
        (settings(path, objective=RewardConfig()), None, "has no reward to learn from"),
        (tiny(robot=ROBOT), demos, "settings of the robot are for MJCF files"),
        (dataclasses.replace(settings(path), robot=RobotConfig()), demos, "has no actuators"),
        (settings(path, match=("elbow",)), demos, "unknown dimension"),
    ]
    for config, given, message in refusals:
        with pytest.raises(SfmError, match=message):
            create(tmp_path / "run", config, given)
    assert not (tmp_path / "run").exists()


def test_the_command_says_what_is_wrong_in_a_line(tmp_path, capsys):
    path = written(tmp_path, ARM)
    save(tmp_path / "swing.npz", swing(path))
    given = path, "--demos", tmp_path / "swing.npz", "--run", tmp_path / "run"
    assert "--actuators pd" in says(capsys, "train", *given)
    assert "choose --control-hz" in says(capsys, "train", *given, "--actuators", "pd", "--control-hz", "300")
    assert "for steps of 0.04 s" in says(capsys, "train", *given, "--actuators", "pd")
    assert "no MJCF file" in says(capsys, "train", tmp_path / "none.xml", *given[1:])


def test_commands_about_demonstrations_take_its_settings(tmp_path, capsys):
    path = written(tmp_path, ARM)
    save(tmp_path / "swing.npz", swing(path))
    how = "--actuators", "pd", "--control-hz", str(HZ)
    for words in (
        ("tasks", path),
        ("demos", "doctor", tmp_path / "swing.npz", path),
        ("demos", "inspect", tmp_path / "swing.npz", "--task", path),
    ):
        assert "has no actuators: --actuators pd gives" in says(capsys, *words)
        assert main([*map(str, words), *how]) == 0
        assert ("shoulder" if words[1] != "doctor" else "nothing to object") in capsys.readouterr().out
    assert "settings of the robot are for MJCF files" in says(capsys, "tasks", "walker_walk", *how)


def test_folders_are_called_after_the_robot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert folders.fresh(settings(written(tmp_path, ARM))).name.startswith("robot_tiny_seed0_")


@dataclasses.dataclass
class Notes(Silent):
    """What a run tells."""

    told: list[str]

    def note(self, message: str) -> None:
        self.told.append(message)


class Shown:
    """Pictures of one pixel, as bright as its only position."""

    name, model, data = "shown", None, None

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        self.at = float(qpos[0])
        return np.array([self.at, qvel[0]], np.float32)

    observe = set_state

    def render(self, height: int, width: int) -> np.ndarray:
        return np.full((height, width, 3), self.at, np.uint8)


def test_a_demonstration_plays_again_and_again_from_where_the_policy_starts():
    q = np.arange(3.0)[:, None]
    demos = Demos.from_list([q, q[:2]], None, "it", [q + 5, q[:2]], [q, q[:2]])
    played = Playback.of(demos, Shown())  # pyright: ignore[reportArgumentType]
    assert played is not None
    assert [int(played.frame(k, 1, 1)[0, 0, 0]) for k in range(7)] == [5, 6, 7, 5, 6, 7, 5]
    other = Shown()
    np.testing.assert_array_equal(played.begin(other), [5, 0])  # pyright: ignore[reportArgumentType]
    assert Playback.of(demos, make("probe_point")) is None
    assert Playback.of(Demos.from_list([q]), Shown()) is None  # pyright: ignore[reportArgumentType]


def test_the_configuration_of_a_robot_survives_its_file(tmp_path):
    path = written(tmp_path, ARM)
    create(tmp_path / "run", settings(path, match=("*.velocity",), objective=_visits()), swing(path))
    kept = json.loads((tmp_path / "run" / "config.json").read_text())
    assert kept["robot"]["actuators"] == "pd"
    assert reopen(tmp_path / "run").config.match == ("*.velocity",)
    assert reopen(tmp_path / "run").config.robot == ROBOT
