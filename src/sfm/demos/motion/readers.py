"""Clips from files: what a file contains decides how it is read."""

import json
import re
import zipfile
from pathlib import Path

import numpy as np

from sfm.demos.limits import check_inflation
from sfm.demos.motion import bundled, rotations
from sfm.demos.motion.clip import Clip, checked, frame_time, identifier
from sfm.errors import SfmError

_LARGEST = 200 << 20  # bytes of text
_TIMES = ("time", "timestamp", "t", "seconds")
_DM_JOINTS = ("chest", "neck", "right_hip", "right_knee", "right_ankle", "right_shoulder", "right_elbow")
_DM_JOINTS += ("left_hip", "left_knee", "left_ankle", "left_shoulder", "left_elbow")


def read(clip: str | Path, fps: float | None = None) -> Clip:
    """A clip from csv, npz, OpenSim's .mot or .sto, or DeepMimic's text; `fps` where a file does not say."""
    path = bundled.clip(clip)
    if fps is not None and not 1 <= fps <= 10_000:
        raise SfmError(f"--fps must lie between 1 and 10,000, not {fps:g}")
    try:
        with open(path, "rb") as file:
            start = file.read(4096)
        if start.startswith(b"PK"):
            return checked(_npz(path, fps))
        if path.stat().st_size > _LARGEST:
            raise SfmError(f"{path} is too large for a clip in text")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        ours = ", ".join(bundled.names(bundled.CLIPS))
        reason = error.strerror or error
        raise SfmError(f"could not read {path}: {reason}; by name there are {ours}") from error
    except UnicodeDecodeError as error:
        raise SfmError(f"{path} is in no known format: csv, npz, .mot, .sto or DeepMimic's text") from error
    if text.lstrip().startswith("{"):
        return checked(_deepmimic(str(clip), text, fps))
    return checked(_table(str(clip), text, fps))


def _table(source: str, text: str, fps: float | None) -> Clip:
    """csv, or OpenSim's storage: its header ends with a line `endheader`.

    Lines that begin with # are skipped; "# cycle" says that the last frame is the first again.
    """
    degrees, lines = None, text.splitlines()
    ends = [i for i, line in enumerate(lines[:100]) if line.strip().lower() == "endheader"]
    if ends:
        found = re.search(r"inDegrees\s*=\s*(\w+)", text, re.IGNORECASE)
        degrees = found is not None and found[1].lower() == "yes"
        lines = lines[ends[0] + 1 :]
    wraps = any(line.split() == ["#", "cycle"] for line in lines)
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise SfmError(f"{source}: no table with a header and rows of numbers")
    delimiter = next((mark for mark in ",;\t" if mark in lines[0]), None)
    raw = [cell.strip().strip('"') for cell in lines[0].split(delimiter)]
    kept = [i for i, name in enumerate(raw) if not name.endswith(("/speed", "/activation"))]
    names = [identifier(raw[i]) for i in kept]
    if any(re.fullmatch(r"[-+.\d].*", cell) for cell in raw) or "" in names or len(set(names)) < len(names):
        raise SfmError(f"{source}: the first line must name the columns, each by another name")
    try:
        rows = np.genfromtxt(lines[1:], delimiter=delimiter, dtype=np.float64, invalid_raise=True)
    except ValueError as error:
        raise SfmError(f"{source}: a row has not as many columns as the header ({len(raw)})") from error
    rows = rows.reshape(len(lines) - 1, -1)  # also of one row or one column
    if rows.shape[1] != len(raw):
        raise SfmError(f"{source}: rows have {rows.shape[1]} columns, the header has {len(raw)}")
    channels = {name: rows[:, i] for name, i in zip(names, kept, strict=True)}
    return Clip(source, *_timed(source, channels, fps), degrees, wraps=wraps)


def _timed(source: str, channels: dict[str, np.ndarray], fps: float | None) -> tuple[float, dict]:
    """The time between frames, and the channels without those that only count."""
    times = next((channels[name] for name in channels if name.lower() in _TIMES), None)
    channels = {k: v for k, v in channels.items() if k.lower() not in (*_TIMES, "frame", "step", "index")}
    if fps is not None:
        return 1 / fps, channels
    if times is None:
        raise SfmError(f"{source} does not say how fast it was recorded: give --fps, or a column 'time'")
    return frame_time(source, times), channels


def _npz(path: Path, fps: float | None) -> Clip:
    """An array [T] for each joint, and `time` [T] or `fps`; or Isaac Lab's file for its humanoid."""
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                check_inflation(str(path), entry.file_size, entry.compress_size)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise SfmError(f"could not read {path}: the file is damaged, or holds no plain arrays") from error
    if "fps" in arrays and fps is None and arrays["fps"].size == 1 and float(arrays["fps"].ravel()[0]) > 0:
        fps = float(arrays["fps"].ravel()[0])
    if "dof_names" in arrays:
        return _isaac(str(path), arrays, fps)
    vectors = {identifier(k): v.astype(np.float64) for k, v in arrays.items() if _is_channel(v)}
    if len({len(v) for v in vectors.values()}) > 1:
        counts = ", ".join(f"{k} {len(v)}" for k, v in list(vectors.items())[:6])
        raise SfmError(f"{path}: joints have different numbers of frames: {counts}")
    return Clip(str(path), *_timed(str(path), vectors, fps))


def _is_channel(array: np.ndarray) -> bool:
    return array.ndim == 1 and array.dtype.kind in "iuf" and array.size > 1


def _isaac(source: str, arrays: dict[str, np.ndarray], fps: float | None) -> Clip:
    """Isaac Lab's motion file: three angles x, y, z of one joint together are axis times angle."""
    need = ("dof_positions", "body_names", "body_positions", "body_rotations")
    if missing := [name for name in need if name not in arrays]:
        raise SfmError(f"{source}: it has dof_names, but not {', '.join(missing)}")
    if fps is None:
        raise SfmError(f"{source} does not say how fast it was recorded: give --fps")
    names, angles = [str(n) for n in arrays["dof_names"]], arrays["dof_positions"].astype(np.float64)
    bodies = arrays["body_positions"], arrays["body_rotations"]
    if angles.ndim != 2 or angles.shape[1] != len(names) or any(b.ndim != 3 for b in bodies):
        raise SfmError(f"{source}: dof_positions must be [T, {len(names)}], and bodies [T, body, 3 or 4]")
    column = {name: angles[:, i] for i, name in enumerate(names)}
    balls = [n[:-2] for n in names if n.endswith("_x") and {f"{n[:-2]}_y", f"{n[:-2]}_z"} <= set(names)]
    quaternions = {
        ball: rotations.from_exponential(np.stack([column.pop(f"{ball}_{a}") for a in "xyz"], -1))
        for ball in balls
    }
    root = bodies[0][:, 0].astype(np.float64), bodies[1][:, 0].astype(np.float64)  # it carries the others
    return _with_root(Clip(source, 1 / fps, column, False, quaternions, root))


def _deepmimic(source: str, text: str, fps: float | None) -> Clip:
    """DeepMimic's humanoid: 44 numbers per frame, y up; turned here to z up, and angles to be about y."""
    try:
        content = json.loads(text)
        rows = np.array(content["Frames"], np.float64)
        wraps = content.get("Loop") in ("wrap", True)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SfmError(f'{source}: not DeepMimic\'s text, which has "Frames" of equal length') from error
    if rows.ndim != 2 or rows.shape[1] != 44:
        raise SfmError(f"{source}: frames of DeepMimic's humanoid have 44 numbers, not {list(rows.shape)}")
    channels, quaternions, at = {}, {}, 8
    for name in _DM_JOINTS:
        if name.endswith(("knee", "elbow")):
            channels[name] = -rows[:, at]  # about z there, which is minus y here
            at += 1
        else:
            quaternions[name] = _upright(rows[:, at : at + 4])
            at += 4
    x, y, z = rows[:, 1:4].T
    root = np.stack([x, -z, y], -1), _upright(rows[:, 4:8])
    step = 1 / fps if fps else float(np.median(rows[:, 0]))
    return _with_root(Clip(source, step, channels, False, quaternions, root, wraps))


def _upright(quaternions: np.ndarray) -> np.ndarray:
    """Of axes x forward, y up, z right, to x forward, y left, z up."""
    w, x, y, z = quaternions.T
    return rotations.unit(np.stack([w, x, -z, y], -1))


def _with_root(clip: Clip) -> Clip:
    """The clip with its root among its names: as a rotation, and as numbers where there is no free joint."""
    assert clip.root is not None
    position, quaternions = clip.root
    quaternions = rotations.unit(quaternions)
    angles = zip(
        ("root_roll", "root_pitch", "root_yaw"), rotations.roll_pitch_yaw(quaternions).T, strict=True
    )
    numbers = {**dict(zip(("root_x", "root_y", "root_z"), position.T, strict=True)), **dict(angles)}
    turned = {name: rotations.unit(q) for name, q in clip.rotations.items()}
    return clip._replace(
        channels={**clip.channels, **numbers},
        rotations={**turned, "root": quaternions},
        root=(position, quaternions),
    )
