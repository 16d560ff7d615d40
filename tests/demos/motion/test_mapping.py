"""What each joint follows: read, checked and proposed."""

import numpy as np
import pytest

from sfm.demos.motion import Clip, bundled, mapping
from sfm.errors import SfmError

CLIP = Clip(
    "dir/walk.mot", 0.01, dict.fromkeys(("pelvis_tilt", "hip_flexion_r", "knee_angle_l"), np.zeros(9))
)


def test_all_forms_of_an_entry(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(
        'right_hip = "pelvis_tilt + hip_flexion_r"\n"odd name" = 0.5\n'
        'knee = { from = "knee_angle_l", scale = -1, offset = 3, clip = [-150, 0] }\n'
        'arm = { from = "shoulder", along = [0, 0, -1] }'
    )
    assert mapping.load(path) == {
        "right_hip": mapping.Entry("pelvis_tilt + hip_flexion_r"),
        "odd name": mapping.Entry("0.5"),
        "knee": mapping.Entry("knee_angle_l", -1, 3, (-150, 0)),
        "arm": mapping.Entry("shoulder", along=(0, 0, -1)),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hip = ", "is not TOML"),
        ("hip = true", "hip must be an expression"),
        ("hip = {}", "hip must be an expression"),
        ('hip = ""', "hip must be an expression"),
        ('hip = "a ** 2"', "'a \\*\\* 2' is not understood"),
        ('hip = {from = "a", scal = 2}', "unknown field of .*: hip 'scal': did you mean scale"),
        ('hip = {from = "a", scale = "2"}', "hip: scale must be a number"),
        ('hip = {from = "a", clip = [1]}', "hip: clip must be 2 numbers"),
        ('hip = {from = "a", clip = [1, 1]}', "hip: clip must be \\[lowest, highest\\]"),
        ('hip = {from = "a", along = [1, inf, 0]}', "hip: along must be 3 numbers"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, text, message):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(SfmError, match=message) as info:
        mapping.load(path)
    assert "\n" not in str(info.value)


def test_a_file_that_is_not_there_tells_of_those_that_are():
    with pytest.raises(SfmError, match=r"could not read nothing: No such file.* there are .*opensim-walker"):
        mapping.load("nothing")
    for name in bundled.names(bundled.MAPPINGS):
        assert mapping.load(name)


def test_unknown_joints_and_names():
    with pytest.raises(SfmError, match="unknown joint of the model 'hip_r': did you mean hip_right"):
        mapping.check({"hip_r": mapping.Entry("pelvis_tilt")}, CLIP, ["hip_right"])
    with pytest.raises(SfmError, match="unknown name in the clip 'pelvis': did you mean pelvis_tilt"):
        mapping.check({"hip": mapping.Entry("pelvis + pelvis_tilt")}, CLIP, ["hip"])


def test_a_proposal_knows_sides_and_can_be_read_again(tmp_path):
    joints = ["right_hip", "left_hip", "LeftKnee", "tail"]
    made = mapping.proposed(CLIP, joints)
    assert made == {"right_hip": mapping.Entry("hip_flexion_r"), "LeftKnee": mapping.Entry("knee_angle_l")}
    text = mapping.as_toml(made, CLIP, joints)
    assert '# left_hip = ""  # nothing alike' in text
    assert "# not used: pelvis_tilt" in text
    (tmp_path / "m.toml").write_text(text)
    assert mapping.load(tmp_path / "m.toml") == made
