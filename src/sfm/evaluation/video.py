"""One episode as video.mp4 and video.gif, at the speed of the real world."""

import contextlib
import io
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from sfm import storage
from sfm.demos import Demos
from sfm.envs import Env
from sfm.errors import SfmError
from sfm.evaluation.playback import Playback

MAX_FPS = 30
GIF_MAX_FPS = 12.5
GIF_MAX_BYTES = 2_000_000


def record(
    env: Env,
    policy: Callable[[np.ndarray], np.ndarray],
    folder: Path,
    *,
    steps: int = 400,
    seed: int = 0,
    height: int = 240,
    width: int = 320,
    progress: Callable[[int, int], None] = lambda done, steps: None,
    beside: Playback | None = None,
) -> list[Path]:
    """Rolls one episode of at most `steps`; returns the two files. `progress` is told (steps done, steps).

    With `beside` the demonstration is played at the right of the policy, which then starts where it does.
    """
    steps = min(steps, env.max_steps)
    every, fps = _slow_down(1 / env.control_timestep, MAX_FPS)
    gif_every, gif_fps = _slow_down(fps, GIF_MAX_FPS)
    mp4, gif = Path(folder) / "video.mp4", Path(folder) / "video.gif"
    gif_frames = []
    whole = width if beside is None else 2 * width
    with storage.atomic(mp4) as temporary, _mp4_writer(temporary, height, whole, fps) as write:
        obs, ended = env.reset(seed) if beside is None else beside.begin(env), False
        for step in range(steps + 1):
            if step % every == 0:
                frame = np.array(env.render(height, width))  # a copy: the environment may reuse its buffer
                if beside is not None:
                    frame = np.concatenate([frame, beside.frame(step, height, width)], axis=1)
                write(frame)
                if step // every % gif_every == 0:
                    gif_frames.append(frame)
            if step == steps or ended:
                break
            obs, _, terminated, truncated = env.step(np.asarray(policy(obs)))
            ended = terminated or truncated
            progress(step + 1, steps)
    storage.write_bytes(gif, _encode_gif(gif_frames, gif_fps))
    return [mp4, gif]


def replay(env: Env, demos: Demos, path: Path, *, seconds: float = 10.0, height=240, width=320) -> None:
    """Writes an mp4 of the first demonstration, which must have the states of its simulator."""
    played = Playback.of(demos, env)
    if played is None:
        raise SfmError(
            "only demonstrations with qpos and qvel, of an environment that takes them, are filmed"
        )
    every, fps = _slow_down(1 / env.control_timestep, MAX_FPS)
    end = min(len(played.qpos), round(seconds * fps) * every)
    with storage.atomic(Path(path)) as temporary, _mp4_writer(temporary, height, width, fps) as write:
        for step in range(0, end, every):
            write(played.frame(step, height, width))


def _slow_down(fps: float, limit: float) -> tuple[int, float]:
    """Returns (k, fps / k): taking every k-th frame keeps within the limit."""
    k = max(1, math.ceil(fps / limit - 1e-6))
    return k, fps / k


@contextlib.contextmanager
def _mp4_writer(path: Path, height: int, width: int, fps: float) -> Iterator[Callable[[np.ndarray], object]]:
    """Yields a function that takes uint8 [h,w,3] frames; they go to ffmpeg at once, so memory stays small."""
    from imageio_ffmpeg import get_ffmpeg_exe

    # imageio's own writer does not notice when ffmpeg fails at the end, as it does on a full disk.
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:.6g}", "-i", "-"]
    # All browsers play yuv420p, which needs even sides.
    target = ["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"]
    command = [get_ffmpeg_exe(), "-v", "error", *source, *target, "-movflags", "+faststart", str(path)]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=messages, stderr=messages)
        try:
            with process:
                assert process.stdin is not None
                yield process.stdin.write
        except BrokenPipeError:
            if process.returncode == 0:
                raise
        if process.returncode != 0:
            messages.seek(0)
            reason = messages.read().decode(errors="replace").strip() or f"exit code {process.returncode}"
            raise OSError(f"ffmpeg failed, is the disk full? {reason}")


def _encode_gif(frames: list[np.ndarray], fps: float) -> bytes:
    """A looped GIF of uint8 [h,w,3] frames, scaled down until it is small enough."""
    from PIL import Image

    height, width = frames[0].shape[:2]
    # GIF counts in hundredths of a second: rounding the times, not the durations, keeps the total right.
    times = [10 * round(100 * i / fps) for i in range(len(frames) + 1)]
    data = b""
    for scale in (1, 0.75, 0.5, 0.35, 0.25):
        size = max(1, round(width * scale)), max(1, round(height * scale))
        images = [Image.fromarray(frame).resize(size, Image.Resampling.LANCZOS) for frame in frames]
        # One palette for all frames: colours do not flicker, and still pixels compress away.
        sample = np.concatenate([np.asarray(image) for image in images[:: math.ceil(len(images) / 8)]])
        palette = Image.fromarray(sample).quantize(256)
        first, *rest = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images)
        buffer = io.BytesIO()
        first.save(buffer, "GIF", save_all=True, append_images=rest, duration=np.diff(times).tolist(), loop=0)
        data = buffer.getvalue()
        if len(data) <= GIF_MAX_BYTES:
            break
    return data
