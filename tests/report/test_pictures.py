"""Moving pictures small enough for a page with many."""

import base64
import io

import numpy as np
from PIL import Image

from sfm.report.groups import samples
from sfm.report.pictures import best_with_video, moving
from sfm.report.records import read


def film(folder, frames=100):
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(rng.integers(0, 255, (60, 80, 3)).astype(np.uint8)) for _ in range(frames)]
    pictures[0].save(folder / "video.gif", save_all=True, append_images=pictures[1:], duration=40, loop=0)


def test_a_picture_keeps_its_time_and_its_limit(tmp_path):
    film(tmp_path)
    found = moving(tmp_path, 60_000)
    assert found is not None
    data = base64.b64decode(found.moving.removeprefix("data:image/webp;base64,"))
    assert len(data) <= 60_000 or found.width == 80
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == (found.width, found.height)
        assert image.n_frames <= 45
        times = []
        for i in range(image.n_frames):
            image.seek(i)
            image.load()
            times.append(image.info["duration"])
    assert sum(times) == 100 * 40
    assert len(found.still) < len(found.moving)


def test_the_picture_is_of_the_best_run_that_has_one(copy):
    low, high, best = copy("low"), copy("high", gain=5.0), copy("best", gain=9.0)
    found, _ = samples([read(folder) for folder in (low, high, best)])
    assert best_with_video(found) is None
    film(low, 2)
    film(high, 2)
    assert best_with_video(found) == high


def test_damaged_videos_give_no_picture(tmp_path):
    (tmp_path / "video.gif").write_bytes(b"GIF89a and nothing more")
    assert moving(tmp_path, 10_000) is None
