"""How long 1,000 demonstrations of 1,000 steps take to load, and how much memory against their arrays.

Each load runs in its own process; memory is what the process grew by at its peak, over the bytes of the
arrays that came back.

    python -m benchmarks.demos [DEMONSTRATIONS]
"""

import io
import json
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import grown
from sfm.demos import Demos, load, save

STEPS, OBS_DIM = 1000, 24


def write(folder: Path, demos: Demos) -> dict[str, Path]:
    """The same demonstrations in every format."""
    folder.mkdir()
    paths = {"npz": folder / "x.npz", "csv": folder / "x.csv", "pickles": folder / "pickles"}
    save(paths["npz"], demos)
    _write_csv(paths["csv"], demos)
    paths["pickles"].mkdir()
    for i, (obs, _) in enumerate(demos.episodes()):
        (paths["pickles"] / f"{i}.pkl").write_bytes(pickle.dumps((obs,), 4))
    for name in ("minari", "imitation"):
        paths[name] = folder / name
        save(paths[name], demos, name)
    paths["lerobot"] = folder / "lerobot"
    _write_lerobot(paths["lerobot"], demos)
    return paths


def _write_csv(path: Path, demos: Demos) -> None:
    """One demonstration over and over: printing numbers is slower than reading them."""
    text = io.StringIO()
    np.savetxt(text, demos.obs[0], fmt="%.9g", delimiter=",")
    rows = text.getvalue().splitlines()
    with open(path, "w") as file:
        file.write("episode," + ",".join(f"state_{i}" for i in range(OBS_DIM)) + "\n")
        for i in range(len(demos.obs)):
            file.writelines(f"{i},{row}\n" for row in rows)


def _write_lerobot(path: Path, demos: Demos) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    frames = demos.obs.reshape(-1, OBS_DIM)
    episode, frame = np.divmod(np.arange(len(frames)), STEPS + 1)
    table = pa.table(
        {
            "observation.state": pa.FixedSizeListArray.from_arrays(pa.array(frames.ravel()), OBS_DIM),
            "episode_index": episode,
            "frame_index": frame,
        }
    )
    (path / "meta").mkdir(parents=True)
    (path / "data" / "chunk-000").mkdir(parents=True)
    pq.write_table(table, path / "data" / "chunk-000" / "file-000.parquet")  # one row group: the hardest
    info = {"codebase_version": "v3.0", "total_frames": len(frames), "features": {"observation.state": {}}}
    (path / "meta" / "info.json").write_text(json.dumps(info))


def measure(path: str, warm_up: str) -> None:
    """In a fresh process: prints seconds, megabytes of the arrays, and the ratio of memory to those."""
    load(warm_up)  # imports the libraries, which are not what is measured
    start = time.perf_counter()
    demos, peak = grown(lambda: load(path))
    seconds, size = time.perf_counter() - start, demos.obs.nbytes
    print(f"{seconds:6.1f} s {size / 2**20:8.0f} MB {peak / size:8.2f}")


def made(count: int) -> Demos:
    obs = np.random.default_rng(0).standard_normal((count, STEPS + 1, OBS_DIM), np.float32)
    return Demos(obs, None, np.full(count, STEPS, np.int32))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        small, large = write(Path(folder, "small"), made(2)), write(Path(folder, "large"), made(count))
        print(f"{count} demonstrations of {STEPS} steps, {OBS_DIM} dimensions")
        print(f"{'format':10} {'time':>8} {'arrays':>11} {'memory / arrays':>15}")
        for name, path in large.items():
            run = [sys.executable, "-m", "benchmarks.demos", "--measure", str(path), str(small[name])]
            print(
                f"{name:10} {subprocess.run(run, capture_output=True, text=True, check=True).stdout}", end=""
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    else:
        main()
