"""Clips from files of all kinds, and files that are none."""

import json

import numpy as np
import pytest

from sfm.demos.motion import bundled, read
from sfm.demos.motion.rotations import matrices
from sfm.errors import SfmError

TIMES = np.arange(10) / 50


def write(path, header, rows, mark=","):
    path.write_text("\n".join([header, *(mark.join(f"{x:.6f}" for x in row) for row in rows)]))
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_a_table_with_a_header(tmp_path, mark):
    rows = np.stack([TIMES, np.sin(TIMES), np.arange(10)], 1)
    clip = read(write(tmp_path / "x.csv", mark.join(["time", "hip", "frame"]), rows, mark))
    assert clip.frame_time == pytest.approx(0.02)
    assert list(clip.channels) == ["hip"]
    assert clip.degrees is None
    np.testing.assert_allclose(clip.channels["hip"], np.sin(TIMES), atol=1e-6)
    assert read(tmp_path / "x.csv", fps=25).frame_time == pytest.approx(0.04)


@pytest.mark.parametrize(("word", "degrees"), [("yes", True), ("no", False)])
def test_opensims_storage_with_paths_of_coordinates(tmp_path, word, degrees):
    header = f"Coordinates\nversion=1\ninDegrees={word}\nendheader\ntime\t/jointset/hip_r/hip_flexion_r/value"
    header += "\t/jointset/hip_r/hip_flexion_r/speed\tpelvis-tx"
    clip = read(write(tmp_path / "x.sto", header, np.stack([TIMES, TIMES, 9 * TIMES, -TIMES], 1), "\t"))
    assert list(clip.channels) == ["hip_flexion_r", "pelvis_tx"]
    assert clip.degrees is degrees
    np.testing.assert_allclose(clip.channels["pelvis_tx"], -TIMES, atol=1e-6)


def test_arrays_by_joint_name(tmp_path):
    np.savez(tmp_path / "x.npz", hip=TIMES.astype(np.float32), fps=30, note="a walk")
    clip = read(tmp_path / "x.npz")
    assert clip.frame_time == pytest.approx(1 / 30)
    assert list(clip.channels) == ["hip"]
    np.savez(tmp_path / "y.npz", hip=TIMES, time=TIMES)
    assert read(tmp_path / "y.npz").frame_time == pytest.approx(0.02)


def isaac(path, **changes):
    """Its right hip turns by half a radian about z, its pelvis goes ahead."""
    names = ["right_hip_x", "right_hip_y", "right_hip_z", "right_knee", "spine_x"]
    arrays = {
        "fps": np.array([60]),
        "dof_names": np.array(names),
        "dof_positions": np.tile([0, 0, 0.5, 0.3, 0.1], (10, 1)).astype(np.float32),
        "body_names": np.array(["pelvis", "thigh"]),
        "body_positions": np.stack([np.stack([TIMES, 0 * TIMES, 1 + 0 * TIMES], 1), np.ones((10, 3))], 1),
        "body_rotations": np.tile([1.0, 0, 0, 0], (10, 2, 1)),
    }
    np.savez(path, **{**arrays, **changes})
    return path


def test_isaacs_joints_of_three_axes_are_rotations(tmp_path):
    clip = read(isaac(tmp_path / "x.npz"))
    assert set(clip.rotations) == {"right_hip", "root"}
    turned = matrices(clip.rotations["right_hip"])[3] @ [1, 0, 0]
    np.testing.assert_allclose(turned, [np.cos(0.5), np.sin(0.5), 0], atol=1e-6)
    np.testing.assert_allclose(clip.channels["right_knee"], 0.3, atol=1e-6)
    np.testing.assert_allclose(clip.channels["root_x"], TIMES)
    np.testing.assert_allclose(clip.channels["root_z"], 1)
    assert "spine_x" in clip.channels
    assert clip.root is not None


def deepmimic(path, frame):
    path.write_text(json.dumps({"Loop": "wrap", "Frames": [frame] * 10}))
    return path


def test_deepmimics_axes_become_ours(tmp_path):
    identity, half = [1, 0, 0, 0], [np.cos(0.25), 0, np.sin(0.25), 0]  # half a radian about its y, our z
    frame = [0.03, 1, 2, 3, *half, *identity * 2, *identity, -0.4, *identity * 2, 0.2]
    frame += [*half, -0.5, *identity * 2, 0.3]
    clip = read(deepmimic(tmp_path / "x.txt", frame))
    assert clip.wraps
    assert clip.frame_time == pytest.approx(0.03)
    assert clip.root is not None
    np.testing.assert_allclose(clip.root[0][0], [1, -3, 2])
    np.testing.assert_allclose(clip.channels["root_yaw"], 0.5)
    np.testing.assert_allclose(clip.channels["right_knee"], 0.4)
    np.testing.assert_allclose(clip.channels["left_elbow"], -0.3)
    np.testing.assert_allclose(
        matrices(clip.rotations["left_hip"])[0] @ [1, 0, 0], [np.cos(0.5), np.sin(0.5), 0]
    )


def test_the_bundled_clips_are_read_by_name():
    run, walk = read("walker_run"), read("human_walk")
    assert bundled.names(bundled.CLIPS) == ["human_walk", "walker_run"]
    assert 1 / run.frame_time == pytest.approx(30, abs=0.01)
    assert walk.wraps
    assert not run.wraps
    for values in walk.channels.values():
        assert values[0] == values[-1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"hip\n" + b"1\n" * 20, "does not say how fast it was recorded: give --fps"),
        ("x.csv", b"time,hip\n0,1\n.1,1", "a clip needs at least 8 frames, this one has 2"),
        ("x.csv", b"time,hip\n0,1", "needs at least 8 frames, this one has 1"),
        ("x.csv", b"time,hip", "no table with a header"),
        ("x.csv", b"", "no table with a header"),
        ("x.csv", b"0,1\n.1,2\n.2,3", "the first line must name the columns"),
        ("x.csv", b"time,hip,hip\n0,1,2\n", "each by another name"),
        ("x.csv", b"time,hip\n0,1,2\n.1,1,2", "rows have 3 columns, the header has 2"),
        ("x.csv", b"time,hip\n0,1\n.1,1,2", "a row has not as many columns as the header"),
        ("x.csv", b"time,hip\n" + b"".join(b"%g,a\n" % t for t in TIMES), "'hip' is not a number in frame 0"),
        ("x.csv", b"time,hip\n" + b"".join(b"%g,1\n" % t**3 for t in range(10)), "not evenly spaced in time"),
        ("x.csv", b"time\n" + b"".join(b"%g\n" % t for t in TIMES), "there is no joint in this clip"),
        ("x.txt", b'{"Frames": [[1, 2], [3]]}', "not DeepMimic's text"),
        ("x.txt", b'{"Frames": [[1, 2], [3, 4]]}', r"have 44 numbers, not \[2, 2\]"),
        ("x.txt", b"{", "not DeepMimic's text"),
        ("x.bin", b"\xff\xfe\x00\x01", "is in no known format"),
        ("x.npz", b"PK\x03\x04 nothing", "the file is damaged"),
    ],
)  # fmt: skip
def test_files_that_are_no_clips_are_refused_in_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SfmError, match=message) as info:
        read(path)
    assert "\n" not in str(info.value)


def test_gaps_and_unequal_arrays_are_refused(tmp_path):
    gap = TIMES.copy()
    gap[4] = np.nan
    np.savez(tmp_path / "x.npz", hip=gap, fps=30)
    with pytest.raises(SfmError, match="'hip' is not a number in frame 4"):
        read(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", hip=TIMES, knee=TIMES[:-1], fps=30)
    with pytest.raises(SfmError, match="different numbers of frames: hip 10, knee 9"):
        read(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", dof_names=["hip"], dof_positions=np.zeros((10, 1)), fps=60)
    with pytest.raises(SfmError, match="it has dof_names, but not body_names, body_positions"):
        read(tmp_path / "x.npz")
    with pytest.raises(SfmError, match=r"dof_positions must be \[T, 5\]"):
        read(isaac(tmp_path / "y.npz", dof_positions=np.zeros((10, 4))))
    with pytest.raises(SfmError, match=r"could not read nothing\.csv: No such file"):
        read("nothing.csv")
    with pytest.raises(SfmError, match="--fps must lie between"):
        read("walker_run", fps=0)


def test_pickles_are_not_opened(tmp_path):
    np.savez(tmp_path / "x.npz", hip=np.array([{}], object))
    with pytest.raises(SfmError, match="damaged, or holds no plain arrays"):
        read(tmp_path / "x.npz")
