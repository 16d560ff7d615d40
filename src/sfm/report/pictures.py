"""The moving picture of a run, made small enough for a page with many."""

import base64
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sfm.report.groups import Sample

MOST = 45  # frames
SIZES = (240, 200, 160, 120, 80)  # widths that are tried, from the largest
LIMIT = 2_400_000  # bytes of all pictures of a page


class Moving(NamedTuple):
    """Both as addresses that hold their data."""

    moving: str
    still: str
    run: Path
    width: int
    height: int


def best_with_video(samples: Iterable[Sample]) -> Path | None:
    """The run folder with a video whose seeds have the highest mean return."""
    means: dict[Path, list[float]] = {}
    for sample in samples:
        if (sample.record.folder / "video.gif").is_file() and (value := sample.value()) is not None:
            means.setdefault(sample.record.folder, []).append(value)
    return max(means, key=lambda folder: sum(means[folder]) / len(means[folder])) if means else None


def moving(folder: Path, limit: int) -> Moving | None:
    """Its video.gif as an animated WebP of `limit` bytes or as near as can be; None if damaged."""
    from PIL import Image, ImageSequence

    try:
        with Image.open(folder / "video.gif") as gif:
            total = getattr(gif, "n_frames", 1)
            every = -(-total // MOST)
            frames, times = [], []
            for i, frame in enumerate(ImageSequence.Iterator(gif)):
                if i % every == 0:
                    frames.append(frame.convert("RGB"))
                    times.append(0)
                times[-1] += int(frame.info.get("duration") or 80)
    except (OSError, ValueError, IndexError):
        return None
    for width in SIZES:
        height = max(1, round(frames[0].height * width / frames[0].width))
        small = [frame.resize((width, height)) for frame in frames]
        data = _webp(small, times)
        if len(data) <= limit:
            break
    return Moving(_address(data), _address(_webp(small[:1], times[:1])), folder, width, height)


def _webp(frames: list, times: list[int]) -> bytes:
    buffer = io.BytesIO()
    first, *rest = frames
    more = {"save_all": True, "append_images": rest, "duration": times, "loop": 0} if rest else {}
    first.save(buffer, "WEBP", quality=45, method=2, **more)
    return buffer.getvalue()


def _address(data: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(data).decode()}"
