"""Files are whole or not there, damage is noticed, and system errors are one clear line."""

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfm import storage
from sfm.errors import SfmError

DTYPES = (np.bool_, np.int8, np.int32, np.int64, np.uint8, np.uint32, np.float16, np.float32, np.float64)
ARRAYS = st.dictionaries(
    st.text(max_size=8).filter(lambda name: name != "__metadata__"),
    st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, min_side=0))),
    max_size=4,
)
META = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers() | st.floats(allow_nan=False) | st.text()
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("storage")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@given(arrays=ARRAYS, meta=META)
@settings(deadline=None, derandomize=True, max_examples=30)
def test_arrays_and_meta_come_back(folder, arrays, meta):
    storage.write_arrays(folder / "a.safetensors", arrays, meta)
    read, read_meta = storage.read_arrays(folder / "a.safetensors")
    assert read_meta == meta
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array, strict=True)


def test_views_and_other_byte_orders(tmp_path):
    grid = np.arange(24, dtype=np.float32).reshape(4, 6)
    views = {"t": grid.T, "step": grid[::2, ::-3], "big": grid.astype(">f4"), "scalar": np.float32(3)}
    storage.write_arrays(tmp_path / "a", views, {})
    read, _ = storage.read_arrays(tmp_path / "a")
    for name, view in views.items():
        np.testing.assert_array_equal(read[name], view)
    assert read["scalar"].shape == ()
    read["t"] += 1  # writable, and nobody else's memory


def test_file_is_plain_safetensors_and_reproducible(tmp_path):
    arrays = {"b": np.ones(3, bool), "a": np.arange(5, dtype=np.int64), "empty": np.zeros((0, 2), np.float32)}
    storage.write_arrays(tmp_path / "1", arrays, {"x": math.inf})
    storage.write_arrays(tmp_path / "2", dict(reversed(arrays.items())), {"x": math.inf})
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert storage.read_arrays(tmp_path / "1")[1] == {"x": math.inf}
    for name, array in safetensors.numpy.load_file(tmp_path / "1").items():
        np.testing.assert_array_equal(array, arrays[name])


@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=100)
def test_any_flipped_bit_or_truncation_is_noticed(folder, data):
    path = folder / "damaged"
    storage.write_arrays(path, {"w": np.arange(10, dtype=np.float32), "b": np.ones(3, bool)}, {"step": 1})
    whole = path.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[position] ^ data.draw(st.integers(1, 255))
    damaged = data.draw(
        st.sampled_from(
            [whole[:position] + bytes([flipped]) + whole[position + 1 :], whole[:position], whole + b"\0"]
        )
    )
    path.write_bytes(damaged)
    with pytest.raises(SfmError, match="is damaged"):
        storage.read_arrays(path)


def test_missing_foreign_and_unreadable_files(tmp_path):
    with pytest.raises(SfmError, match="not found"):
        storage.read_arrays(tmp_path / "none")
    with pytest.raises(SfmError, match="not found"):
        storage.read_json(tmp_path / "none")
    with pytest.raises(SfmError, match="could not read"):
        storage.read_arrays(tmp_path)
    safetensors.numpy.save_file({"w": np.ones(3)}, tmp_path / "foreign")
    with pytest.raises(SfmError, match="damaged"):
        storage.read_arrays(tmp_path / "foreign")
    with pytest.raises(SfmError, match="unsupported type <U1"):
        storage.write_arrays(tmp_path / "text", {"w": np.array(["a"])}, {})
    assert names(tmp_path) == {"foreign"}


def test_json(tmp_path):
    value = {"a": np.float32(0.5), "nan": math.nan, "list": (1, -math.inf, np.arange(2)), "text": "ü"}
    storage.write_json(tmp_path / "new" / "x.json", value)
    assert storage.read_json(tmp_path / "new" / "x.json") == {
        "a": 0.5,
        "nan": None,
        "list": [1, None, [0, 1]],
        "text": "ü",
    }
    for bad in (b'{"a": 1', b"\xff", b""):
        storage.write_bytes(tmp_path / "bad.json", bad)
        with pytest.raises(SfmError, match=re.escape("bad.json is not valid JSON")):
            storage.read_json(tmp_path / "bad.json")


def test_failed_block_leaves_the_old_file(tmp_path):
    storage.write_bytes(tmp_path / "x", b"old")

    def interrupted():
        with storage.atomic(tmp_path / "x") as temporary:
            temporary.write_bytes(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "x").read_bytes() == b"old"
    assert names(tmp_path) == {"x"}


def test_a_file_in_the_way(tmp_path):
    storage.write_bytes(tmp_path / "x", b"old")
    with pytest.raises(SfmError, match="a part of the path is a file"):
        storage.write_bytes(tmp_path / "x" / "y", b"new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SfmError, match="it is a folder"):
        storage.write_bytes(tmp_path / "folder", b"new")
    assert names(tmp_path) == {"x", "folder"}


def run_limited(setup: str, path: Path) -> str:
    """The message of the SfmError that writing 1 MB to `path` raises in a process limited by `setup`."""
    code = f"""
import os, resource, signal, sys
import numpy as np
from pathlib import Path
from sfm import storage
from sfm.errors import SfmError
{setup}
try:
    storage.write_arrays(Path(sys.argv[1]), {{"w": np.zeros(1 << 18, np.float32)}}, {{}})
except SfmError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_room_for_the_file(tmp_path):
    storage.write_bytes(tmp_path / "x", b"old")
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    message = run_limited(limit, tmp_path / "x")
    assert message == (
        f"could not write {tmp_path / 'x'}: the file is larger than the system allows; "
        "raise the limit (ulimit -f) or use another disk"
    )
    assert (tmp_path / "x").read_bytes() == b"old"
    assert names(tmp_path) == {"x"}


def test_no_permission(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    message = run_limited("if os.getuid() == 0: os.setuid(65534)", folder / "x")
    assert "no permission; choose another folder" in message
    assert "\n" not in message
    assert names(folder) == set()


def test_full_disk_has_a_clear_message():
    with pytest.raises(OSError, match="No space") as info, open("/dev/full", "wb", buffering=0) as file:
        file.write(b"x")
    assert str(storage.cannot_write(Path("x"), info.value)).startswith(
        "could not write x: the disk is full; free"
    )


def test_imports_fast():
    code = (
        "import sys, sfm.storage, sfm.training.checkpoint, sfm.training.logs, sfm.demos, sfm.evaluation.curve"
    )
    code += "; print(sorted({'jax', 'matplotlib', 'imageio', 'PIL'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
