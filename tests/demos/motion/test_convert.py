"""Whole demonstrations from clips of which everything is known."""

import numpy as np
import pytest

from sfm.demos.motion import Clip, from_motion, propose, rotations
from sfm.errors import SfmError
from tests.demos.motion.clips import BALL, LEG, Stage, clip

PARTS = ("hip_flexion", "knee_angle", "ankle_angle")
CYCLE = 2 * np.pi / 0.8


def swing(t):
    return 0.4 * np.sin(CYCLE * t)


def convert(given, stage=None, mapping=None, **choices):
    return from_motion(given, stage or Stage(LEG), mapping, **choices)


def test_a_swing_is_looped_for_an_episode_with_its_velocities():
    demos, report, mapping = convert(clip(hip=swing))
    assert demos.qpos is not None
    assert demos.qvel is not None
    times = np.arange(101) * 0.02
    np.testing.assert_allclose(demos.qpos[0, :, 3], swing(times), atol=1e-3)
    np.testing.assert_allclose(demos.qvel[0, 1:-1, 3], 0.4 * CYCLE * np.cos(CYCLE * times)[1:-1], atol=0.02)
    np.testing.assert_array_equal(demos.obs[0], np.concatenate([demos.qpos[0], demos.qvel[0]], 1))
    assert report.period == pytest.approx(0.8, abs=0.003)
    assert mapping == {"hip": "hip"}
    assert report.still == ["up", "ahead", "tilt"]


def test_the_foot_is_on_the_ground_and_stays_where_it_is():
    demos, report, _ = convert(clip(hip=swing))
    assert demos.qpos is not None
    # The floor is at 0.5, the foot a ball of 5 cm at the end of 1 m.
    np.testing.assert_allclose(demos.qpos[0, :, 0] + 2 - np.cos(demos.qpos[0, :, 3]) - 0.05, 0.5, atol=1e-6)
    assert report.penetration < 1e-6
    assert report.height < 1e-6
    assert report.sliding < 0.25 < 0.4 * CYCLE  # but for the smoothing
    # It swings to and fro: as the foot holds, the body goes the other way, and ends where it began.
    assert report.speed < 0.05
    assert np.ptp(demos.qpos[0, :, 1]) == pytest.approx(2 * np.sin(0.4) + 2 * 0.05 * 0.4, rel=0.1)


def test_what_a_clip_says_of_its_root_is_kept():
    given = clip(hip=swing, up=lambda t: 0.1 * np.cos(CYCLE * t), ahead=lambda t: 3 + 1.5 * t, tilt=0.2)
    demos, report, _ = convert(given)
    assert demos.qpos is not None
    assert report.speed == pytest.approx(1.5, rel=1e-3)
    assert demos.qpos[0, 0, 1] == 0
    assert report.height > 0.1  # the lowest state touches the ground; the others need not
    assert report.penetration < 1e-6
    np.testing.assert_allclose(demos.qpos[0, :, 2], 0.2, atol=1e-6)
    each = convert(given, ground="each", forward="contact").report
    assert each.height < 1e-6
    assert each.speed < 0.05


def test_without_a_cycle_the_clip_is_taken_as_it_is():
    demos, report, _ = convert(clip(hip=lambda t: 0.2 * t**2))
    assert report.period is None
    assert demos.length.tolist() == [99]  # of 1.99 s
    assert demos.qpos is not None
    assert demos.qvel is not None
    np.testing.assert_allclose(demos.qpos[0, :, 3], 0.2 * (np.arange(100) * 0.02) ** 2, atol=1e-4)
    np.testing.assert_allclose(demos.qvel[0, 1:-1, 3], 0.4 * np.arange(1, 99) * 0.02, atol=5e-3)
    assert convert(clip(hip=swing), period="none").report.period is None
    assert convert(clip(hip=swing), period="none", seconds=0.5).demos.length.tolist() == [25]
    assert convert(clip(hip=swing), seconds=3).demos.length.tolist() == [150]
    assert convert(clip(hip=swing), period=0.9).report.period == 0.9


def test_units_are_told_or_seen():
    degrees = lambda t: np.degrees(swing(t))  # noqa: E731
    expected = convert(clip(hip=swing)).demos.qpos
    assert expected is not None
    for given, units in (
        (clip(degrees=True, hip=degrees), None),
        (clip(degrees=None, hip=degrees), None),
        (clip(degrees=None, hip=swing), None),
        (clip(degrees=None, hip=degrees, tilt=0), None),
        (clip(degrees=False, hip=degrees), "degrees"),
        (clip(degrees=True, hip=swing), "radians"),
    ):
        found = convert(given, units=units).demos.qpos
        assert found is not None
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_scale_offset_and_clip_are_in_the_units_of_the_clip():
    entry = {"from": "a + b", "scale": -2, "offset": 5, "clip": [-10, 20]}
    given = clip(degrees=True, a=lambda t: 10 * np.sin(CYCLE * t), b=1)
    demos = convert(given, mapping={"hip": entry, "ahead": "0.5", "tilt": "90"}, period="none").demos
    assert demos.qpos is not None
    times = np.arange(100) * 0.02
    expected = np.radians(np.clip(-2 * (10 * np.sin(CYCLE * times) + 1) + 5, -10, 20))
    np.testing.assert_allclose(demos.qpos[0, :, 3], expected, atol=2e-3)
    np.testing.assert_allclose(demos.qpos[0, :, 2], np.pi / 2, atol=1e-6)


def test_angles_beyond_the_limits_are_told_and_clipped():
    given = clip(hip=lambda t: 1.2 * np.sin(CYCLE * t))
    demos, report, _ = convert(given)
    assert demos.qpos is not None
    most, share = report.beyond["hip"]
    assert most == pytest.approx(1.2 - np.pi / 3, abs=1e-3)
    assert share == pytest.approx(1 - 2 / np.pi * np.arcsin(np.pi / 3 / 1.2), abs=0.02)
    assert np.abs(demos.qpos[0, :, 3]).max() == pytest.approx(np.pi / 3, abs=1e-6)
    kept = convert(given, limits="keep")
    assert kept.demos.qpos is not None
    assert kept.demos.qpos[0, :, 3].max() == pytest.approx(1.2, abs=1e-3)
    assert any("hip: up to 8.8 degrees beyond" in line for line in kept.report.lines())


def test_rotations_turn_free_and_ball_joints():
    times = np.arange(100) * 0.02
    turns = rotations.from_exponential(0.3 * np.sin(CYCLE * times)[:, None] * [0, 0, 1])
    root = np.stack([times, 0 * times, 3 + 0 * times], 1), turns
    given = Clip("a clip", 0.02, {}, rotations={"arm": turns, "root": turns}, root=root)
    demos, report, mapping = convert(given, Stage(BALL), {"shoulder": "arm * root"}, period="none")
    assert demos.qpos is not None
    assert demos.qvel is not None
    assert mapping == {"free": "root", "shoulder": "arm * root"}
    angle = 0.6 * np.sin(CYCLE * times)
    found = demos.qpos[0, :, 7:]
    np.testing.assert_allclose(found[:, 3], np.sin(angle / 2), atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(demos.qvel[0, 1:-1, 8], (0.6 * CYCLE * np.cos(CYCLE * times))[1:-1], atol=0.1)
    assert report.speed == pytest.approx(1, abs=1e-3)
    assert demos.qpos[0, :, 2].max() == pytest.approx(0.1, abs=1e-5)  # a box of 10 cm on the ground


def test_a_root_keeps_its_own_height_and_coarse_rotations_stay_rotations():
    times = np.arange(12) * 0.1
    turns = rotations.from_exponential(2.5 * times[:, None] * [0.3, 0.8, 0.5])
    root = np.stack([times, 0 * times, 3 + times**2], 1), np.tile([1.0, 0, 0, 0], (12, 1))
    given = Clip("a clip", 0.1, {}, rotations={"arm": turns, "root": root[1]}, root=root)
    demos = convert(given, Stage(BALL), {"shoulder": "arm"}, period="none").demos
    assert demos.qpos is not None
    np.testing.assert_allclose(np.linalg.norm(demos.qpos[0, :, 7:], axis=1), 1, atol=1e-6)
    assert np.ptp(demos.qpos[0, :, 2]) == pytest.approx(1.08**2, rel=0.05)


def test_a_body_that_is_turned_at_rest_turns_about_the_same_axes():
    times = np.arange(100) * 0.02
    turns = rotations.from_exponential(0.3 * times[:, None] * [0, 0, 1])
    given = Clip("a clip", 0.02, {}, rotations={"arm": turns})
    stage = Stage(BALL.replace('<body name="arm"', '<body name="arm" euler="90 0 0"'))
    demos = convert(given, stage, {"shoulder": "arm"}, period="none").demos
    assert demos.qpos is not None
    angle = 0.3 * times  # about z there, which is y of the arm
    np.testing.assert_allclose(demos.qpos[0, :, 9], np.sin(angle / 2), atol=1e-6)


def test_hinges_share_a_rotation():
    axes = "".join(
        f'<joint name="{n}" axis="{a}"/>' for n, a in (("x", "1 0 0"), ("z", "0 0 1"), ("y", "0 1 0"))
    )
    body = f'<body pos="0 0 .3"><geom size=".1"/><body>{axes}<geom size=".1" pos="0 0 -.2"/></body></body>'
    turns = rotations.from_exponential(np.linspace(0, 1, 100)[:, None] * [0.2, 0.9, 0.1])
    given = Clip("a clip", 0.02, {}, rotations={"hip": turns})
    stage = Stage(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    demos = convert(given, stage, dict.fromkeys("xyz", "hip"), period="none").demos
    assert demos.qpos is not None
    product = np.eye(3)
    for axis, angle in zip(([1, 0, 0], [0, 0, 1], [0, 1, 0]), demos.qpos[0, 50], strict=True):
        product = product @ rotations.matrices(rotations.from_exponential(np.array(axis) * angle))
    np.testing.assert_allclose(product, rotations.matrices(turns[50]), atol=1e-3)


LIFTED = {"up": lambda t: 0.2 + 0 * t, "hip": swing}
SHORT = clip(frames=9, frame_time=0.001, hip=swing)


@pytest.mark.parametrize(
    ("given", "choices", "message"),
    [
        (clip(hop=swing), {}, "names no joint as 'hip' of the model: have a mapping written with --propose"),
        (
            clip(hip=swing),
            {"mapping": {"hipp": "hip"}},
            "unknown joint of the model 'hipp': did you mean hip",
        ),
        (clip(hip=swing), {"mapping": {"hip": "hop"}}, "unknown name in the clip 'hop': did you mean hip"),
        (clip(hip=lambda t: 200 * t), {}, "'hip' reaches 398 radians, more than a turn: .*--units degrees"),
        (
            clip(degrees=None, hip=lambda t: 200 * np.sin(CYCLE * t), tilt=swing),
            {},
            "'hip' reaches 200, but 1 of 2 joints that move stay within 3.24: .* Say --units, or scale it",
        ),
        (clip(degrees=True, hip=lambda t: 500 * t), {}, "reaches 995 degrees, more than a turn: look at"),
        (clip(degrees=True, hip=swing), {}, "no joint moves by more than 0.8 degrees: .*--units radians"),
        (clip(hip=swing), {"mapping": {"hip": "1 / (hip - hip)"}}, "is not a number in every frame"),
        (clip(**LIFTED), {"ground": "keep"}, "never touches the ground: its lowest point stays 0.65 m above"),
        (clip(hip=swing), {"period": "often"}, "--period must be auto, none or seconds, not 'often'"),
        (clip(hip=swing), {"period": 9}, "a period of 9 s does not fit a clip of 1.99 s"),
        (clip(hip=swing), {"units": "gon"}, "unknown units 'gon'"),
        (clip(hip=swing), {"ground": "no"}, "unknown ground 'no': known: each, keep, once"),
        (SHORT, {"period": "none"}, "lasts 0.008 s, less than a step of 'stage'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(given, choices, message):
    with pytest.raises(SfmError, match=message) as info:
        convert(given, **choices)
    assert "\n" not in str(info.value)


def test_rotations_and_numbers_do_not_mix():
    turns = np.tile([1.0, 0, 0, 0], (50, 1))
    given = Clip("a clip", 0.02, {"knee": np.zeros(50)}, rotations={"arm": turns})
    for mapping, message in (
        ({"shoulder": "knee"}, "joint 'shoulder' turns freely: it must follow a rotation"),
        ({"shoulder": "2 * arm"}, "rotations are only multiplied and divided"),
    ):
        with pytest.raises(SfmError, match=message):
            convert(given, Stage(BALL), mapping)
    with pytest.raises(SfmError, match="arm is a rotation; it is not mixed with numbers"):
        convert(given, Stage(LEG), {"hip": "arm + knee"})


def test_a_bundled_mapping_that_fits_is_named():
    names = ("pelvis_tilt", *(f"{part}_{side}" for part in PARTS for side in "rl"))
    given = clip(**dict.fromkeys(names, swing))
    with pytest.raises(SfmError, match="the bundled one fits: --mapping opensim-walker; or have"):
        convert(given, "walker_walk")
    told = "# The bundled mapping opensim-walker fits this clip and this model"
    assert told in propose(given, "walker_walk")
    assert told not in propose(given, Stage(LEG))


def test_only_what_shows_its_simulation_can_be_moved():
    with pytest.raises(SfmError, match="'probe_point' does not show its simulation"):
        propose(clip(hip=swing), "probe_point")
