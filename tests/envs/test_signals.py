"""What numbers are called: by MuJoCo where it has a name, by their place where not."""

from types import SimpleNamespace

import pytest

from sfm.envs import make, signals
from sfm.envs.repeat import repeated


def test_what_has_no_names_is_numbered():
    nameless = SimpleNamespace(obs_dim=2, action_dim=1, low=[-1], high=[2])
    assert signals.obs_names(nameless) == ("obs[0]", "obs[1]")
    assert signals.action_names(nameless) == ("action[0]",)
    assert signals.obs_signals(nameless) == (signals.Signal("obs[0]"), signals.Signal("obs[1]"))
    assert signals.action_signals(nameless) == (signals.Signal("action[0]", "", -1, 2),)
    miscounted = SimpleNamespace(obs_dim=2, obs_names=("x",))
    assert signals.obs_names(miscounted) == ("obs[0]", "obs[1]")
    assert signals.numbered("x", (2, 2)) == ["x[0][0]", "x[0][1]", "x[1][0]", "x[1][1]"]
    assert signals.numbered("x", (1,)) == ["x"]


SOME = {
    "cheetah_run": {0: "position/rootz m", 2: "position/bthigh rad", 8: "velocity/rootx m/s"},
    "walker_walk": {1: "orientations/torso.xz ", 14: "height m", 20: "velocity/right_ankle rad/s"},
    "quadruped_walk": {
        0: "egocentric_state/yaw_front_left rad",
        16: "egocentric_state/yaw_front_left.vel rad/s",
        33: "egocentric_state/lift_front_left ",
        44: "torso_velocity/velocimeter.x m/s",
        77: "force_torque/torque_toe_back_left.z arcsinh(N m)",
    },
    "pendulum_swingup": {0: "orientation/pole.xx ", 2: "velocity rad/s"},
    "reacher_easy": {2: "to_target[0] "},
}


@pytest.mark.parametrize("task", SOME)
def test_tasks_have_the_names_of_their_keys_joints_and_sensors(task):
    env = make(task)
    names = env.obs_names
    assert len(set(names)) == len(names) == env.obs_dim
    assert {i: f"{env.obs_signals[i].name} {env.obs_signals[i].unit}" for i in SOME[task]} == SOME[task]
    assert len(env.action_names) == env.action_dim


def test_names_of_a_task_are_found_without_disturbing_it():
    env, other = make("walker_walk"), make("walker_walk")
    env.reset(0)
    other.reset(0)
    assert env.obs_names
    action = [0.3] * 6
    assert env.step(action)[0].tolist() == other.step(action)[0].tolist()


def test_a_decision_of_several_steps_has_the_same_names():
    env = repeated(make("walker_walk"), 3)
    assert env.obs_names[14] == "height"
    assert env.action_names[0] == "right_hip"
