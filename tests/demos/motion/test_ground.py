"""The lowest point of bodies of all shapes, and how it slides."""

import mujoco
import numpy as np
import pytest

from sfm.demos.motion import ground, joints
from tests.demos.motion.clips import BALL, LEG, model

SHAPES = {
    "sphere": 'type="sphere" size=".3"',
    "capsule": 'type="capsule" size=".1 .3"',
    "cylinder": 'type="cylinder" size=".2 .3"',
    "box": 'type="box" size=".1 .2 .3"',
    "ellipsoid": 'type="ellipsoid" size=".1 .2 .3"',
    "mesh": 'type="mesh" mesh="wedge"',
}
ASSET = '<asset><mesh name="wedge" vertex="0 0 0 .4 0 0 0 .3 0 0 0 .2"/></asset>'


@pytest.mark.parametrize("shape", SHAPES)
def test_the_lowest_point_touches_the_floor_where_mujoco_says_so(shape):
    """At the height that is found there is no distance to the plane, whichever way the shape is turned."""
    body = f'<body pos="0 0 1"><freejoint/><geom name="it" {SHAPES[shape]}/></body>'
    made = model(
        f'<mujoco>{ASSET}<worldbody><geom name="floor" type="plane" size="1 1 1"/>{body}</worldbody></mujoco>'
    )
    rng, data = np.random.default_rng(0), mujoco.MjData(made)
    for _ in range(5):
        data.qpos[:] = [0, 0, 2, *rng.standard_normal(4)]
        mujoco.mj_normalizeQuat(made, data.qpos)
        height = ground.touch(made, data.qpos[None].repeat(2, 0)).height[0]
        data.qpos[2] -= height
        mujoco.mj_kinematics(made, data)
        distance = mujoco.mj_geomDistance(made, data, 0, 1, 1.0, None)
        assert distance == pytest.approx(0, abs=2e-3)


def test_only_what_collides_counts():
    xml = LEG.replace(
        '<geom type="sphere" size=".1"/>', '<geom type="sphere" size="1.5" contype="0" conaffinity="0"/>'
    )
    qpos = np.zeros((2, 4))
    np.testing.assert_allclose(ground.touch(model(xml), qpos).height, 2 - 1 - 0.05 - 0.5)


def test_a_swinging_leg_slides_and_a_rolling_ball_does_not():
    made = model(LEG)
    angles = np.linspace(0.5, 0.1, 9)  # in large steps
    qpos = np.zeros((9, 4))
    qpos[:, 3] = angles
    slip = ground.touch(made, qpos).slip
    # The foot is a ball of 5 cm at the end of 1 m: its lowest point turns about the hip.
    expected = np.sin(angles) * -1 - 0.05 * angles
    np.testing.assert_allclose(np.cumsum(slip[:, 0]), expected[1:] - expected[0], atol=2e-4)
    ball = model('<mujoco><worldbody><body><freejoint/><geom size=".2"/></body></worldbody></mujoco>')
    turns = np.linspace(0, 2, 401)
    rolling = np.zeros((401, 7))
    rolling[:, 0], rolling[:, 3], rolling[:, 5] = 0.2 * turns, np.cos(turns / 2), np.sin(turns / 2)
    assert np.abs(ground.touch(ball, rolling).slip).max() < 1e-5


def test_the_root_of_a_model():
    leg, ball = model(LEG), model(BALL)
    assert joints.root(leg) == (1, None, 0)
    assert joints.root(ball) == (0, 1, 2)
    assert joints.limbs(leg) == ["hip"]
    assert joints.limbs(ball) == ["shoulder"]
    assert joints.free(leg) is None
    assert joints.free(ball) == "free"
    assert joints.columns(ball, ["shoulder"]) == [7, 8, 9, 10]
    assert joints.columns(leg, ["hip", "up"]) == [3, 0]
    body = '<body><joint name="a" axis="0 1 0"/><geom size="1"/></body>'
    arm = model(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    assert joints.root(arm) == (None, None, None)
    assert joints.limbs(arm) == ["a"]
    unnamed = model(f"<mujoco><worldbody>{body}</worldbody></mujoco>".replace('name="a"', ""))
    assert joints.names(unnamed) == ["joint0"]
    assert joints.columns(unnamed, ["joint0"]) == [0]
    assert ground.floor(leg) == 0.5
    assert ground.floor(arm) == 0
