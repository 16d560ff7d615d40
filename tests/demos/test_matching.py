"""Which part of a state is matched: what demonstrations have, narrowed by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from sfm.config import Config, OPOLOConfig, SFMConfig
from sfm.demos import Demos, load, save
from sfm.demos.matching import aligned, check_fit, matched, observations_of, told
from sfm.envs import make
from sfm.envs.base import Motion
from sfm.envs.signals import obs_names
from sfm.errors import SfmError
from sfm.presets import preset
from tests.envs.mjcf.models import PLANAR, made

ROOT = ("height", "gravity_x", "gravity_z", "velocity_x", "velocity_z", "turning_y")
NAMES = tuple(f"torso.{part}" for part in ROOT)


@pytest.fixture
def env(tmp_path):
    return made(tmp_path, PLANAR)


def partial(*names: str) -> Demos:
    obs = np.arange(6 * len(names), dtype=np.float32).reshape(6, -1)
    return Demos.from_list([obs])._replace(names=names)


def test_what_a_demonstration_has_is_matched(env):
    assert env.obs_names == (*NAMES, "hip", "hip.velocity")
    assert matched(None, (), env) is None
    assert matched(partial("hip", "torso.height"), (), env) == (0, 6)
    assert matched(partial(*reversed(env.obs_names)), (), env) is None


def test_names_and_patterns_narrow_it(env):
    assert matched(None, ("hip*", "torso.height"), env) == (0, 6, 7)
    assert matched(partial("hip", "torso.height"), ("hip*",), env) == (6,)
    with pytest.raises(SfmError, match=r"unknown dimension .* 'hop': did you mean hip"):
        matched(None, ("hop",), env)
    with pytest.raises(SfmError, match="nothing of what match names: they have hip"):
        matched(partial("hip"), ("torso*",), env)


def test_states_are_put_in_the_order_of_the_environment(env):
    demos = partial("hip", "torso.height")
    wide = aligned(demos, env)
    assert wide.obs.shape == (1, 6, 8)
    np.testing.assert_array_equal(wide.obs[..., [6, 0]], demos.obs)
    assert aligned(wide, env) is wide
    with pytest.raises(SfmError, match=r"unknown dimension of .* 'knee'"):
        aligned(partial("knee"), env)


def test_dimensions_without_names_go_by_number():
    env = make("probe_point")
    assert matched(None, obs_names(env)[:1], env) is None  # the only one there is


def test_names_survive_a_file(tmp_path):
    demos = partial("hip", "torso.height")
    save(tmp_path / "part.npz", demos)
    again = load(tmp_path / "part.npz")
    assert again.names == demos.names
    assert again.only(0).names == again.thinned(2).names == demos.names


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "1 'names' for states of 2 dimensions"),
        (["a", "a"], "'names' has 'a' twice"),
        ([1, 2], "'names' holds no text but int64"),
        ([["a", "b"]], "'names' has shape"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, message, tmp_path):
    np.savez(tmp_path / "part.npz", obs=np.zeros((3, 2)), names=np.array(names))
    with pytest.raises(SfmError, match=message):
        load(tmp_path / "part.npz")


@pytest.mark.parametrize("name", ["iq-learn", "bc", "sfm-td7"])
def test_what_needs_whole_states_refuses_a_part_with_the_reason(name, env):
    with pytest.raises(SfmError, match=rf"{name} needs whole states, .* torso.height, .* more: "):
        check_fit(preset(name), partial("hip", "hip.velocity"), env)


@pytest.mark.parametrize("config", [preset("fast"), preset("bco"), Config(objective=OPOLOConfig())])
def test_what_does_not_takes_it(config, env):
    check_fit(config, partial("hip", "hip.velocity"), env)


def test_without_a_tail_a_part_is_enough(env):
    check_fit(Config(objective=SFMConfig(tail="truncate")), partial("hip"), env)


def test_a_motion_tells_all_but_sensors(tmp_path):
    env, obs = made(tmp_path, PLANAR, sensors=True), np.ones((3, 10), np.float32)
    seen, names = told(env, obs)
    assert (seen.shape, names) == ((3, 8), env.obs_names[:8])
    assert told(made(tmp_path, PLANAR), obs)[1] is None


def moving(env, step: float) -> Demos:
    """One metre per second, in steps of so many seconds."""
    qpos = np.zeros((50, 4))
    qpos[:, 0] = step * np.arange(50)
    qvel = np.tile([1.0, 0, 0, 0], (50, 1))
    obs = np.array([env.observe(*state) for state in zip(qpos, qvel, strict=True)])
    return Demos.from_list([obs], None, "it", [qpos], [qvel])


def test_a_motion_for_another_rate_is_refused(env):
    check_fit(preset("fast"), moving(env, 0.02), env)
    with pytest.raises(SfmError, match=r"for steps of 0.04 s, but a step of .* takes 0.02 s"):
        check_fit(preset("fast"), moving(env, 0.04), env)


@pytest.mark.parametrize(("kind", "size"), [("qpos", 3), ("qpos", 5), ("qvel", 3), ("qvel", 8)])
def test_states_of_another_model_are_refused(env, kind, size):
    """Half of the environments would begin in them."""
    other = moving(env, 0.02)._replace(**{kind: np.zeros((1, 50, size), np.float32)})
    with pytest.raises(
        SfmError, match=rf"{kind} has {size} numbers per state, .* has 4: they are of another model"
    ):
        check_fit(preset("general"), other, env)


def test_the_motion_of_demonstrations_is_all_their_states_but_the_last():
    q = np.arange(6.0)[:, None]
    demos = Demos.from_list([q[:3], q[:5]], None, "it", [q[:3], q[:5]], [-q[:3], -q[:5]])
    motion = demos.motion()
    assert isinstance(motion, Motion)
    assert motion.qpos[:, 0].tolist() == [0, 1, 0, 1, 2, 3]
    assert motion.qvel[:, 0].tolist() == [0, -1, 0, -1, -2, -3]


def test_dimensions_belong_to_the_observation_that_their_name_begins_with(env):
    named = SimpleNamespace(
        name="x", obs_dim=5, obs_names=("pose/knee", "pose/hip", "height", "obs[3]", "obs[4]")
    )
    assert observations_of(named) == ("pose", "pose", "height", "obs", "obs")
    assert observations_of(SimpleNamespace(name="x", obs_dim=2)) == ("obs", "obs")
    robot = dict(zip(env.obs_names, observations_of(env), strict=True))
    assert [robot[name] for name in NAMES] == [
        ".height",
        *[".gravity_"] * 2,
        *[".velocity_"] * 2,
        ".turning_",
    ]
    joints = [name for name in env.obs_names if "." not in name]
    assert {robot[name] for name in joints} == {"."}
    assert {robot[f"{name}.velocity"] for name in joints} == {".velocity"}
