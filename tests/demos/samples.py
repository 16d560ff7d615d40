"""Small demonstrations, and files as the formats' own libraries write them."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sfm.demos import Demos, load
from sfm.errors import SfmError

LENGTHS = (4, 2, 7)
# What Python 2.7 with NumPy 1.16 writes of ([[0, -1.5, 3e5], [1e-9, 7, 128.25]] float32, [[0.5], [-0.25]]
# float64), by protocol.
PYTHON_2 = [
    b"(cnumpy.core.multiarray\n_reconstruct\np1\n(cnumpy\nndarray\np2\n(I0\ntS'b'\ntRp3\n(I1\n(I2\nI3\ntcnumpy\n"
    b"dtype\np4\n(S'f4'\nI0\nI1\ntRp5\n(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS'\\x00\\x00\\x00\\x00\\x00\\x00\\xc0"
    b"\\xbf\\x00|\\x92H_p\\x890\\x00\\x00\\xe0@\\x00@\\x00C'\ntbg1\n(g2\n(I0\ntS'b'\ntRp6\n(I1\n(I2\nI1\ntg4\n("
    b"S'f8'\nI0\nI1\ntRp7\n(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS'\\x00\\x00\\x00\\x00\\x00\\x00\\xe0?\\x00\\x00"
    b"\\x00\\x00\\x00\\x00\\xd0\\xbf'\ntbt.",
    b"(cnumpy.core.multiarray\n_reconstruct\nq\x01(cnumpy\nndarray\nq\x02(K\x00tU\x01btRq\x03(K\x01(K\x02K\x03t"
    b"cnumpy\ndtype\nq\x04(U\x02f4K\x00K\x01tRq\x05(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbI00\n"
    b"U\x18\x00\x00\x00\x00\x00\x00\xc0\xbf\x00|\x92H_p\x890\x00\x00\xe0@\x00@\x00Ctbh\x01(h\x02(K\x00tU\x01btR"
    b"q\x06(K\x01(K\x02K\x01th\x04(U\x02f8K\x00K\x01tRq\x07(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    b"K\x00tbI00\nU\x10\x00\x00\x00\x00\x00\x00\xe0?\x00\x00\x00\x00\x00\x00\xd0\xbftbt.",
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87Rq\x03(K\x01"
    b"K\x02K\x03\x86cnumpy\ndtype\nq\x04U\x02f4K\x00K\x01\x87Rq\x05(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff"
    b"\xffK\x00tb\x89U\x18\x00\x00\x00\x00\x00\x00\xc0\xbf\x00|\x92H_p\x890\x00\x00\xe0@\x00@\x00Ctbh\x01h\x02"
    b"K\x00\x85U\x01b\x87Rq\x06(K\x01K\x02K\x01\x86h\x04U\x02f8K\x00K\x01\x87Rq\x07(K\x03U\x01<NNNJ\xff\xff\xff"
    b"\xffJ\xff\xff\xff\xffK\x00tb\x89U\x10\x00\x00\x00\x00\x00\x00\xe0?\x00\x00\x00\x00\x00\x00\xd0\xbftb\x86.",
]


def demos(lengths=LENGTHS, obs_dim: int = 3, action_dim: int | None = 2, seed: int = 0) -> Demos:
    """Random walks, with actions in [-1, 1] unless action_dim is None."""
    rng = np.random.default_rng(seed)
    obs = [rng.standard_normal((n + 1, obs_dim)).astype(np.float32) for n in lengths]
    if action_dim is None:
        return Demos.from_list(obs)
    return Demos.from_list(obs, [rng.uniform(-1, 1, (n, action_dim)).astype(np.float32) for n in lengths])


def assert_equal(a: Demos, b: Demos) -> None:
    np.testing.assert_array_equal(a.obs, b.obs, strict=True)
    np.testing.assert_array_equal(a.length, b.length, strict=True)
    for name in ("action", "reward", "qpos", "qvel"):
        mine, theirs = getattr(a, name), getattr(b, name)
        assert (mine is None) == (theirs is None), name
        if mine is not None and theirs is not None:
            np.testing.assert_array_equal(mine, theirs, strict=True)


def write_lerobot(path: Path, given: Demos, version: str = "v3.0", rows: int = 5) -> Path:
    """A LeRobot dataset: v2 has a file per episode, v3 two files, in row groups of `rows`."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    features = {
        name: {"dtype": "float32", "shape": [values.shape[2]], "names": None}
        for name, values in (("observation.state", given.obs), ("action", given.action))
        if values is not None
    }
    info = {
        "codebase_version": version,
        "total_episodes": len(given.length),
        "total_frames": int(given.length.sum()) + len(given.length),
        "fps": 50,
        "features": features,
    }
    (path / "meta").mkdir(parents=True)
    (path / "meta" / "info.json").write_text(json.dumps(info))
    chunk = path / "data" / "chunk-000"
    chunk.mkdir(parents=True)
    tables = []
    for i, (obs, action) in enumerate(given.episodes()):
        columns = {"observation.state": _vectors(pa, obs)}
        if action is not None:
            columns["action"] = _vectors(pa, np.concatenate([action, action[-1:]]))
        columns |= {
            "timestamp": pa.array(np.arange(len(obs), dtype=np.float32) / 50),
            "frame_index": pa.array(np.arange(len(obs))),
            "episode_index": pa.array(np.full(len(obs), i)),
        }
        tables.append(pa.table(columns))
    if version.startswith("v2"):
        for i, table in enumerate(tables):
            pq.write_table(table, chunk / f"episode_{i:06d}.parquet")
    else:
        half = (len(tables) + 1) // 2
        for i, group in enumerate(group for group in (tables[:half], tables[half:]) if group):
            pq.write_table(pa.concat_tables(group), chunk / f"file-{i:03d}.parquet", row_group_size=rows)
    return path


def _vectors(pa, values: np.ndarray):
    """As the library stores a feature: a list per frame, but one number where its shape is [1]."""
    if values.shape[1] == 1:
        return pa.array(values[:, 0])
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def write_pickles(path: Path, given: Demos, protocol: int = 4) -> Path:
    """The authors' layout: a folder of pairs (states, actions), the last action unused."""
    path.mkdir()
    for i, (obs, action) in enumerate(given.episodes()):
        pair = (obs,) if action is None else (obs, np.concatenate([action, action[-1:]]))
        (path / f"{i}.pkl").write_bytes(pickle.dumps(pair, protocol))
    return path


def states(length: int, dim: int = 3, start: float = 0) -> np.ndarray:
    return start + np.arange((length + 1) * dim, dtype=np.float32).reshape(length + 1, dim)


def actions(length: int, dim: int = 2) -> np.ndarray:
    return np.linspace(-1, 1, length * dim, dtype=np.float32).reshape(length, dim)


BAD_STATE = states(4)
BAD_STATE[[2, 3], [1, 0]] = np.nan
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def any_demos(draw) -> Demos:
    """One to four demonstrations of all numbers that float32 has, with or without actions."""
    obs_dim, action_dim = draw(st.integers(1, 4)), draw(st.sampled_from([None, 1, 3]))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    pool = np.array(draw(st.lists(NUMBERS, min_size=8, max_size=8)), np.float32)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    obs = [rng.choice(pool, (n + 1, obs_dim)) for n in lengths]
    return Demos.from_list(
        obs, None if action_dim is None else [rng.choice(pool, (n, action_dim)) for n in lengths]
    )


few = settings(
    deadline=None,
    derandomize=True,
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def refused(path: Path, data: bytes) -> str:
    """Loads `data` from a file; what the error says."""
    path.write_bytes(data)
    with pytest.raises(SfmError) as info:
        load(path)
    assert "\n" not in str(info.value)
    assert str(path) in str(info.value)
    return str(info.value)
