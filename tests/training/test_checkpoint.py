"""A run can be killed, and its disk can lie: the newest intact checkpoint is found, bit for bit."""

import random
import re
import subprocess
import sys
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfm import storage
from sfm.errors import SfmError
from sfm.training.checkpoint import FORMAT_VERSION, Checkpoints, flatten, unflatten

NAMES = {10: "step_000000010.safetensors", 20: "step_000000020.safetensors", 30: "step_000000030.safetensors"}


def contents(step: int) -> dict[str, np.ndarray]:
    return {"w": np.full(100, step, np.float32), "key": np.array([0, step], np.uint32)}


def save(folder, *steps: int, keep: int = 2) -> Checkpoints:
    checkpoints = Checkpoints(folder, keep)
    for step in steps:
        checkpoints.save(step, contents(step), {"best": float("-inf"), "step": step})
    return checkpoints


def assert_is(step: int, loaded) -> None:
    assert loaded[0] == loaded[2]["step"] == step
    for name, array in contents(step).items():
        np.testing.assert_array_equal(loaded[1][name], array, strict=True)


def test_newest_is_loaded_and_older_are_removed(tmp_path):
    checkpoints = save(tmp_path, 10, 20, 30)
    loaded = checkpoints.load()
    assert_is(30, loaded)
    assert loaded[2] == {"best": float("-inf"), "step": 30, "format": FORMAT_VERSION, "sfm": loaded[2]["sfm"]}
    assert loaded[3] == []
    assert {path.name for path in tmp_path.iterdir()} == {NAMES[20], NAMES[30]}


def test_leftovers_of_a_kill_are_ignored_and_removed(tmp_path):
    checkpoints = save(tmp_path, 10)
    (tmp_path / f"{storage.TEMPORARY}1234-{NAMES[20]}").write_bytes(b"half")
    assert_is(10, checkpoints.load())
    save(tmp_path, 30)
    assert {path.name for path in tmp_path.iterdir()} == {NAMES[10], NAMES[30]}


def test_nothing_to_load(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(SfmError, match="no checkpoint in"):
            Checkpoints(folder).load()
    with pytest.raises(SfmError, match="at least 1"):
        Checkpoints(tmp_path, keep=0)


@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=50)
def test_damage_means_going_back_with_a_warning(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("run")
    checkpoints = save(folder, 10, 20)
    newest = folder / NAMES[20]
    whole = newest.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    newest.write_bytes(
        whole[:position] + (b"" if cut else bytes([whole[position] ^ 1]) + whole[position + 1 :])
    )
    loaded = checkpoints.load()
    assert_is(10, loaded)
    assert len(loaded[3]) == 1
    assert re.search(NAMES[20] + r" is damaged \(checksum does not match\); going back", loaded[3][0])


def test_all_damaged(tmp_path):
    checkpoints = save(tmp_path, 10, 20)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SfmError, match=r"no intact checkpoint in .*: all 2 are damaged"):
        checkpoints.load()


@pytest.mark.parametrize("keep", [1, 2])
def test_a_damaged_later_step_does_not_displace_a_new_one(tmp_path, keep):
    save(tmp_path, 10, 30)
    (tmp_path / NAMES[30]).write_bytes(b"")
    checkpoints = save(tmp_path, 20, keep=keep)
    assert_is(20, checkpoints.load())
    assert checkpoints.steps() == [20, 10][:keep]


def test_other_format_is_refused(tmp_path):
    checkpoints = save(tmp_path, 10)
    other = FORMAT_VERSION + 1
    storage.write_arrays(tmp_path / NAMES[20], contents(20), {"format": other, "sfm": "9.9"})
    message = f"written by another version (format {other}, this is {FORMAT_VERSION}): use sfm 9.9"
    with pytest.raises(SfmError, match=re.escape(message)):
        checkpoints.load()


LOOP = """
import sys
from pathlib import Path
import numpy as np
from sfm.training.checkpoint import Checkpoints
checkpoints = Checkpoints(Path(sys.argv[1]))
for step in range(int(sys.argv[2]), 10**8):
    checkpoints.save(step, {"w": np.full(300_000, step, np.float32)}, {"step": step})
    print(step, flush=True)
"""


def test_a_kill_at_any_moment_leaves_an_intact_checkpoint(tmp_path):
    delays = random.Random(0)
    last = 0
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", LOOP, str(tmp_path), str(last + 1)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()  # it runs
        time.sleep(delays.uniform(0, 0.1))
        process.kill()
        printed = process.communicate()[0].split()
        step, arrays, meta, warnings = Checkpoints(tmp_path).load()
        assert warnings == []
        assert meta["step"] == step >= max([last + 1, *map(int, printed[-1:])])  # what was reported is there
        np.testing.assert_array_equal(arrays["w"], np.full(300_000, step, np.float32))
        last = step


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from sfm.errors import SfmError
from sfm.training.checkpoint import Checkpoints
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    Checkpoints(Path(sys.argv[1])).save(30, {"w": np.zeros(100_000)}, {})
except SfmError as error:
    print(error)
"""


def test_a_save_without_room_keeps_the_old_ones(tmp_path):
    checkpoints = save(tmp_path, 10, 20)
    message = subprocess.check_output([sys.executable, "-c", FULL, str(tmp_path)], text=True)
    assert message.startswith(f"could not write {tmp_path / NAMES[30]}: the file is larger")
    assert_is(20, checkpoints.load())
    assert {path.name for path in tmp_path.iterdir()} == {NAMES[10], NAMES[20]}


class State(NamedTuple):
    weights: list[Any]
    keys: Any
    raw_key: Any
    count: int
    best: float
    host: np.ndarray
    nothing: None = None


def state(seed: int, impl: str | None = None) -> State:
    typed = jax.random.split(jax.random.key(seed, impl=impl), 3)
    weights = [{"w": jnp.full((2, 3), seed, jnp.float32)}, jnp.array(seed > 0), jnp.zeros((0, 4))]
    return State(weights, typed, jax.random.PRNGKey(seed), seed, seed / 3, np.array([seed], np.int64))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_pytree_round_trip_through_a_file(tmp_path, impl):
    original = state(7, impl)
    Checkpoints(tmp_path).save(1, flatten(original), {})
    restored = unflatten(state(0, impl), Checkpoints(tmp_path).load()[1])
    assert jax.tree.structure(restored) == jax.tree.structure(original)
    assert jax.random.key_impl(restored.keys) == impl
    np.testing.assert_array_equal(*(jax.random.key_data(s.keys) for s in (restored, original)))
    np.testing.assert_array_equal(jax.random.normal(restored.keys[2]), jax.random.normal(original.keys[2]))
    for a, b in zip(jax.tree.leaves(restored), jax.tree.leaves(original), strict=True):
        assert type(a) is type(b)
    assert (restored.count, restored.best) == (7, 7 / 3)
    assert restored.weights[0]["w"].dtype == jnp.float32
    assert sorted(flatten(original))[:3] == ["best", "count", "host"]
    assert "weights/0/w" in flatten(original)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_shapes_alone_suffice(impl):
    original = {"w": jnp.arange(3.0), "key": jax.random.key(3, impl=impl)}
    like = jax.eval_shape(lambda: {"w": jnp.zeros(3), "key": jax.random.key(0, impl=impl)})
    restored = unflatten(like, flatten(original))
    np.testing.assert_array_equal(restored["w"], original["w"])
    assert restored["key"] == original["key"]


def test_restored_arrays_can_be_donated():
    arrays = {"w": np.arange(1000, dtype=np.float32)}
    restored = unflatten({"w": jnp.zeros(1000)}, arrays)
    jax.jit(lambda w: w + 1, donate_argnums=0)(restored["w"]).block_until_ready()
    np.testing.assert_array_equal(arrays["w"], np.arange(1000))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.zeros(2, np.float32)}, "checkpoint lacks 'b'"),
        ({"a": np.zeros(2, np.float32), "b": np.int32(1), "c": np.int32(1)}, "has unknown 'c'"),
        ({"a": np.zeros(3, np.float32), "b": np.int32(1)}, "'a' as float32[3], expected float32[2]"),
        ({"a": np.zeros(2, np.int32), "b": np.int32(1)}, "'a' as int32[2], expected float32[2]"),
    ],
)
def test_another_configuration_is_refused(arrays, message):
    with pytest.raises(SfmError, match=re.escape(message)):
        unflatten({"a": jnp.zeros(2), "b": jnp.int32(0)}, {k: np.asarray(v) for k, v in arrays.items()})


def test_trees_that_cannot_be_saved():
    with pytest.raises(TypeError, match="leaf 'f' is no array"):
        flatten({"f": jnp.tanh})
    with pytest.raises(ValueError, match="share a name"):
        flatten({"a/b": 1, "a": {"b": 2}})
