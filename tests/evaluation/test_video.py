"""Videos show the episode at the speed of the world, in files of a sensible size."""

import re
import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from sfm.demos import Demos
from sfm.errors import SfmError
from sfm.evaluation import video


class Slider:
    """A bright bar that moves right by the action, over a coloured background."""

    obs_dim, action_dim = 1, 1

    def __init__(self, control_timestep: float, max_steps: int = 1000, end: int = 10**9):
        self.name, self.control_timestep, self.max_steps, self.end = (
            "slider",
            control_timestep,
            max_steps,
            end,
        )

    def reset(self, seed: int) -> np.ndarray:
        self.time, self.x, self.seed = 0, 0.0, seed
        return np.zeros(1, np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        self.time, self.x = self.time + 1, self.x + float(action[0])
        obs = np.array([self.x], np.float32)
        return obs, 0.0, self.time >= self.end, self.time >= self.max_steps

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        image = np.full((height, width, 3), (40, 90, 160), np.uint8)
        left = int(self.x) % (width - 10)
        image[:, left : left + 10] = 250
        return image

    def close(self) -> None:
        pass


class Noise(Slider):
    """Pictures that do not compress."""

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        return np.random.default_rng(self.time).integers(0, 256, (height, width, 3), np.uint8)


def right(obs: np.ndarray) -> np.ndarray:
    return np.ones(1, np.float32)


def read_mp4(path) -> tuple[str, np.ndarray]:
    """Returns ffmpeg's description and frames[n,h,w,3] of a video."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    about = done.stderr.decode()
    size = re.search(r", (\d+)x(\d+)", about)
    assert size is not None
    return about, np.frombuffer(done.stdout, np.uint8).reshape(-1, int(size[2]), int(size[1]), 3)


def gif_durations(path) -> list[float]:
    with Image.open(path) as image:
        assert image.info["loop"] == 0
        durations = []
        for i in range(image.n_frames):
            image.seek(i)
            durations.append(image.info["duration"])
        return durations


@pytest.mark.parametrize(
    ("timestep", "fps", "frames", "gif_frames"),
    [(0.025, 20, 51, 26), (0.01, 25, 26, 13), (0.1, 10, 101, 101)],
)
def test_speed_is_real(tmp_path, timestep, fps, frames, gif_frames):
    told = []
    paths = video.record(
        Slider(timestep), right, tmp_path, steps=100, seed=3, progress=lambda *done: told.append(done)
    )
    assert paths == [tmp_path / "video.mp4", tmp_path / "video.gif"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["video.gif", "video.mp4"]
    about, images = read_mp4(paths[0])
    assert f" {fps} fps" in about
    assert "h264" in about
    assert "yuv420p" in about
    assert images.shape == (frames, 240, 320, 3)
    bars = [image[120, :, 0].astype(int).argmax() for image in images]
    step = 1 / timestep / fps
    np.testing.assert_allclose(bars, step * np.arange(frames), atol=10)
    durations = gif_durations(paths[1])
    assert len(durations) == gif_frames
    assert sum(durations) / 1000 == pytest.approx(frames / fps, rel=0.1)
    assert told == [(done, 100) for done in range(1, 101)]


@pytest.mark.parametrize("env", [Slider(0.1, end=7), Slider(0.1, max_steps=7)])
def test_stops_with_the_episode(tmp_path, env):
    mp4, _ = video.record(env, right, tmp_path, seed=0)
    assert len(read_mp4(mp4)[1]) == 8


def test_odd_sizes_and_a_single_frame(tmp_path):
    mp4, gif = video.record(Slider(0.03), right, tmp_path, steps=0, seed=0, height=33, width=47)
    assert read_mp4(mp4)[1].shape == (1, 34, 48, 3)
    assert len(gif_durations(gif)) == 1


def test_gif_shrinks_until_it_is_small(tmp_path):
    _, gif = video.record(Noise(0.1), right, tmp_path, steps=40, seed=0)
    assert gif.stat().st_size <= video.GIF_MAX_BYTES
    with Image.open(gif) as image:
        assert 0 < image.width < 320
        assert image.width / image.height == pytest.approx(4 / 3, rel=0.02)


def test_errors_leave_no_files(tmp_path):
    class Blind(Slider):
        def render(self, height: int = 240, width: int = 320) -> np.ndarray:
            raise SfmError("cannot render here")

    with pytest.raises(SfmError, match="cannot render here"):
        video.record(Blind(0.1), right, tmp_path, seed=0)
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from sfm.errors import SfmError
from sfm.evaluation.video import _mp4_writer
from sfm.storage import atomic
path = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    with atomic(path) as temporary, _mp4_writer(temporary, 64, 64, 10) as write:
        for i in range(int(sys.argv[2])):
            write(np.random.default_rng(i).integers(0, 256, (64, 64, 3), np.uint8))
except SfmError as error:
    print(error)
"""


@pytest.mark.parametrize("frames", [10, 1000])  # it fails at the end, or early
def test_no_room_for_the_video(tmp_path, frames):
    command = [sys.executable, "-c", FULL, str(tmp_path / "x.mp4"), str(frames)]
    message = subprocess.check_output(command, text=True)
    assert message.startswith(f"could not write {tmp_path / 'x.mp4'}: ffmpeg failed, is the disk full?")
    assert message.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_walker(tmp_path):
    envs = pytest.importorskip("sfm.envs")
    env = envs.make("walker_walk")
    try:
        mp4, gif = video.record(env, lambda obs: np.zeros(env.action_dim), tmp_path, steps=20, seed=0)
    except SfmError as error:
        pytest.skip(str(error))
    finally:
        env.close()
    about, frames = read_mp4(mp4)
    assert " 20 fps" in about
    assert len(frames) == 11
    assert frames[0].std() > 10  # a picture, not a blank
    assert gif.stat().st_size < 500_000


class Placed(Slider):
    """A bar that stands where the state says."""

    model = data = None

    def observe(self, qpos, qvel):
        self.x, self.time = float(qpos[0]), 0
        return np.zeros(1, np.float32)

    set_state = observe


def test_a_demonstration_is_shown_state_by_state(tmp_path):
    states = np.arange(50, dtype=np.float32)[:, None]
    demos = Demos.from_list([states], qpos_list=[4 * states], qvel_list=[states])
    video.replay(Placed(1 / 60), demos, tmp_path / "x.mp4")
    told, frames = read_mp4(tmp_path / "x.mp4")
    assert "30 fps" in told
    bars = (frames[:, 100, :, 0] > 150).argmax(1)  # the left side of the bar
    np.testing.assert_allclose(bars, 8 * np.arange(25), atol=3)
    video.replay(Placed(1 / 60), demos, tmp_path / "y.mp4", seconds=0.5)
    assert len(read_mp4(tmp_path / "y.mp4")[1]) == 15
    for env, given in ((Slider(1 / 60), demos), (Placed(1 / 60), demos._replace(qpos=None))):
        with pytest.raises(SfmError, match="only demonstrations with qpos and qvel"):
            video.replay(env, given, tmp_path / "z.mp4")
