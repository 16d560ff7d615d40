"""A recorded motion as it was read: numbers over time, by the names that its file has for them."""

import re
from typing import NamedTuple

import numpy as np

from sfm.errors import SfmError

MIN_FRAMES = 8  # fewer say nothing about velocities


class Clip(NamedTuple):
    """T frames, evenly spaced."""

    source: str
    frame_time: float  # seconds
    channels: dict[str, np.ndarray]  # [T]: angles, and lengths in metres
    degrees: bool | None = None  # what the angles are in; None: the file does not say
    rotations: dict[str, np.ndarray] = {}  # noqa: RUF012  unit quaternions [T, 4] of joints with several axes
    root: tuple[np.ndarray, np.ndarray] | None = None  # position [T, 3], quaternion [T, 4]; z up, x forward
    wraps: bool = False  # whether the last frame is the first again

    @property
    def frames(self) -> int:
        return len(next(iter([*self.channels.values(), *self.rotations.values()])))

    @property
    def names(self) -> list[str]:
        return [*self.channels, *self.rotations]


def checked(clip: Clip) -> Clip:
    """The clip, refused if it is too short or has gaps."""
    if not clip.channels and not clip.rotations:
        raise SfmError(f"{clip.source}: there is no joint in this clip")
    if clip.frames < MIN_FRAMES:
        raise SfmError(
            f"{clip.source}: a clip needs at least {MIN_FRAMES} frames, this one has {clip.frames}"
        )
    if not 1e-4 < clip.frame_time < 1:
        raise SfmError(f"{clip.source}: {clip.frame_time:.3g} seconds between frames cannot be; give --fps")
    root = () if clip.root is None else zip(("root_position", "root_rotation"), clip.root, strict=True)
    for name, values in (*clip.channels.items(), *clip.rotations.items(), *root):
        bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(1))
        if len(bad):
            raise SfmError(f"{clip.source}: '{name}' is not a number in frame {bad[0]}: fill or cut the gap")
    return clip


def identifier(name: str) -> str:
    """A name that can stand in an expression; of OpenSim's paths (/jointset/knee_r/knee_angle_r/value) the
    coordinate."""
    parts = name.strip().strip("/").split("/")
    if len(parts) > 1 and parts[-1] == "value":
        parts = parts[-2:-1]
    short = re.sub(r"\W+", "_", parts[-1] if parts[0] == "jointset" else "_".join(parts)).strip("_")
    return f"_{short}" if short[:1].isdigit() else short


def frame_time(source: str, times: np.ndarray) -> float:
    """Of a column of times, which must be even."""
    if len(times) < 2:
        raise SfmError(f"{source}: a clip needs at least {MIN_FRAMES} frames, this one has {len(times)}")
    steps = np.diff(times)
    mean = float(steps.mean())
    if not np.isfinite(times).all() or mean <= 0 or np.abs(steps - mean).max() > 0.2 * mean:
        raise SfmError(f"{source}: the frames are not evenly spaced in time; resample them, or give --fps")
    return mean
