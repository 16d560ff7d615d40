"""Demonstrations come back from files, and bad ones are refused in one clear line."""

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfm.demos import Demos, load
from sfm.demos.npz import save
from sfm.demos.types import check
from sfm.errors import SfmError

SHARED = Path(__file__).parents[3] / "shared" / "demos" / "walker_walk"


def states(length: int, dim: int = 3, start: float = 0) -> np.ndarray:
    return start + np.arange((length + 1) * dim, dtype=np.float32).reshape(length + 1, dim)


def actions(length: int, dim: int = 2) -> np.ndarray:
    return np.linspace(-1, 1, length * dim, dtype=np.float32).reshape(length, dim)


def assert_equal(a: Demos, b: Demos) -> None:
    np.testing.assert_array_equal(a.obs, b.obs, strict=True)
    np.testing.assert_array_equal(a.length, b.length, strict=True)
    assert (a.action is None) == (b.action is None)
    if a.action is not None and b.action is not None:
        np.testing.assert_array_equal(a.action, b.action, strict=True)


@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), with_actions=st.booleans())
@settings(deadline=None, derandomize=True, max_examples=30)
def test_lists_become_padded_arrays_and_back(tmp_path_factory, lengths, with_actions):
    obs = [states(length, start=i) for i, length in enumerate(lengths)]
    action = [actions(length) for length in lengths] if with_actions else None
    demos = Demos.from_list(obs, action)
    assert demos.obs.shape == (len(lengths), max(lengths) + 1, 3)
    assert demos.obs.dtype == np.float32
    assert demos.length.dtype == np.int32
    np.testing.assert_array_equal(demos.length, lengths)
    for i, (found_obs, found_action) in enumerate(demos.episodes()):
        np.testing.assert_array_equal(found_obs, obs[i])
        np.testing.assert_array_equal(
            demos.obs[i, lengths[i] :], np.broadcast_to(obs[i][-1], demos.obs[i, lengths[i] :].shape)
        )
        if action is None:
            assert found_action is None
        else:
            np.testing.assert_array_equal(found_action, action[i])
    path = tmp_path_factory.mktemp("demos") / "x.npz"
    save(path, demos, source='{"by": "a test"}', returns=[1.0])
    assert_equal(load(path), demos)
    with np.load(path) as file:
        assert str(file["source"]) == '{"by": "a test"}'


def test_other_number_types_become_float32():
    for dtype in (np.float64, np.float16, np.int64, np.uint8, bool):
        demos = Demos.from_list([np.ones((3, 2), dtype)], [np.ones((2, 1), dtype)])
        assert demos.obs.dtype == np.float32
        assert demos.action is not None
        assert demos.action.dtype == np.float32
    assert Demos.from_list([[[1, 2], [3, 4]]]).obs.tolist() == [[[1, 2], [3, 4]]]


def test_an_action_after_the_last_state_is_dropped():
    assert_equal(Demos.from_list([states(4)], [actions(5)]), Demos.from_list([states(4)], [actions(5)[:4]]))


BAD_STATE = states(4)
BAD_STATE[[2, 3], [1, 0]] = np.nan


@pytest.mark.parametrize(
    ("obs", "action", "message"),
    [
        ([], None, "x: there are no demonstrations"),
        ([states(3), states(0)], None, "x: demonstration 1 needs at least 2 states, has 1"),
        ([np.zeros((0, 3))], None, "x: demonstration 0 needs at least 2 states, has 0"),
        ([states(3), BAD_STATE], None, "x: demonstration 1 is NaN in state 2, dimension 1"),
        ([np.array([[0.0], [-np.inf]])], None, "x: demonstration 0 is infinite in state 1, dimension 0"),
        ([states(4)], [BAD_STATE], "x: demonstration 0 is NaN in action 2, dimension 1"),
        (
            [np.array([["a"], ["b"]])],
            None,
            "x: the states of demonstration 0 are not numbers but of type <U1",
        ),
        ([np.array([[None], [1]])], None, "not numbers but of type object"),
        ([np.array([[1.0], [1e39]])], None, "too large for float32: 1e+39 at time 1, dimension 0"),
        (
            [states(3, 3), states(3, 4)],
            None,
            "demonstration 1 has states of 4 dimensions, but the first has 3",
        ),
        ([np.zeros(5)], None, "have shape [5], expected [time, dimension]"),
        ([[[1, 2], [3]]], None, "do not form a matrix"),
        ([states(3)], [], "actions of 0 demonstrations, but states of 1"),
        ([states(3)], [actions(2)], "demonstration 0 has 2 actions for 4 states, expected 3 (or 4"),
        ([states(3)], [actions(5)], "demonstration 0 has 5 actions for 4 states"),
        ([states(3)] * 2, [actions(3, 2), actions(3, 1)], "demonstration 1 has actions of 1 dimensions"),
    ],
)
def test_bad_demonstrations_are_refused(obs, action, message):
    with pytest.raises(SfmError, match=re.escape(message)) as info:
        Demos.from_list(obs, action, name="x")
    assert "\n" not in str(info.value)


def test_check_against_the_environment():
    demos = Demos.from_list([states(3)], [actions(3)])
    check(demos, 3, "x")
    with pytest.raises(SfmError, match="x: states have 3 dimensions, the environment has 24"):
        check(demos, 24, "x")
    for broken, message in (
        (demos._replace(length=np.array([4])), "length 4, expected 1 to 3"),
        (demos._replace(length=np.array([0])), "length 0, expected 1 to 3"),
        (demos._replace(length=np.array([1.5])), "whole numbers"),
        (demos._replace(obs=np.zeros((0, 2, 3))), "no demonstrations"),
        (demos._replace(obs=demos.obs.astype(str)), "not numbers"),
        (demos._replace(action=np.zeros((1, 7, 2))), "do not fit"),
    ):
        with pytest.raises(SfmError, match=message):
            check(broken, None, "x")
    padding = np.full((1, 4, 3), np.nan, np.float32)
    padding[:, :2] = 0
    check(
        Demos(padding, None, np.array([1], np.int32)), 3, "x"
    )  # what lies beyond the length does not matter


def test_file_layouts(tmp_path):
    one = Demos.from_list([states(4)], [actions(4)])
    np.savez(tmp_path / "one.npz", obs=states(4), action=actions(4), extra=np.array([{"an": "object"}]))
    np.savez(tmp_path / "many.npz", obs=states(4)[None], action=actions(5)[None, :4])
    np.save(tmp_path / "states.npy", states(4))
    assert_equal(load(tmp_path / "one.npz"), one)
    assert_equal(load(str(tmp_path / "many.npz")), Demos.from_list([states(4)], [actions(5)]))
    assert_equal(load(tmp_path / "states.npy"), Demos.from_list([states(4)]))
    # a padding of NaN, as some recorders leave it
    obs = np.stack([states(4), np.concatenate([states(2), np.full((2, 3), np.nan, np.float32)])])
    np.savez(tmp_path / "padded.npz", obs=obs, length=np.array([4, 2]))
    assert_equal(load(tmp_path / "padded.npz"), Demos.from_list([states(4), states(2)]))
    np.savez(tmp_path / "short.npz", obs=states(4), length=2)
    assert_equal(load(tmp_path / "short.npz"), Demos.from_list([states(2)]))


def test_folder_is_read_in_natural_order(tmp_path):
    for i in (10, 9, 2, 1):
        np.savez(tmp_path / f"{i}.npz", obs=states(i, start=i), action=actions(i))
    np.savez(tmp_path / "last.npz", obs=states(3), action=actions(3))
    demos = load(tmp_path)
    assert demos.length.tolist() == [1, 2, 9, 10, 3]
    assert demos.action is not None
    np.savez(tmp_path / "z.npz", obs=states(3))
    assert load(tmp_path).action is None


def saved(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def zip_of(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, "text")
    return buffer.getvalue()


GOOD = saved(obs=states(4), action=actions(4))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a NumPy file"),
        (b"hello, world", "is not a NumPy file"),
        (b"\x80\x04N.", "expected a pair of NumPy arrays (states, actions), found nonetype"),
        (GOOD[:-1], "damaged or cut off"),
        (GOOD[:100], "damaged or cut off"),
        (zip_of("obs.npy"), "damaged or cut off"),
        (zip_of("readme.txt"), "has no array 'obs', only: readme.txt"),
        (saved(states=states(4), act=1), "has no array 'obs', only: states, act"),
        (saved(obs=np.array([None, "x"])), "holds Python objects"),
        (saved(obs=np.zeros(3)), "'obs' has shape [3], expected"),
        (saved(obs=states(4)[None], action=actions(4)), "'action' has shape [4, 2], 'obs' has [1, 5, 3]"),
        (saved(obs=states(4), action=1.0), "expected [time, dimension]"),
        (saved(obs=states(4), action=actions(2)), "2 actions for 5 states"),
        (saved(obs=states(4), length=5), "has length 5, but 'obs' has 5 states"),
        (saved(obs=states(4), length=-1), "has length -1"),
        (saved(obs=states(4), length=0), "needs at least 2 states"),
        (saved(obs=states(4), length=[1, 2]), "'length' must be 1 whole numbers"),
        (saved(obs=states(4), length=2.0), "'length' must be 1 whole numbers"),
        (saved(obs=np.zeros((0, 5, 3))), "there are no demonstrations"),
        (saved(obs=BAD_STATE), "demonstration 0 is NaN in state 2, dimension 1"),
    ],
)
def test_bad_files_are_refused(tmp_path, data, message):
    path = tmp_path / "x.npz"
    path.write_bytes(data)
    for source in (path, tmp_path):
        with pytest.raises(SfmError, match=re.escape(message)) as info:
            load(source)
        assert str(path) in str(info.value)
        assert "\n" not in str(info.value)


def test_missing_paths(tmp_path):
    with pytest.raises(SfmError, match="does not exist"):
        load(tmp_path / "none.npz")
    with pytest.raises(SfmError, match=r"there is no \.npz, \.npy"):
        load(tmp_path)
    with pytest.raises(SfmError, match="'x' is neither"):
        save(tmp_path / "a.npz", Demos.from_list([states(2)]), x={})
    assert list(tmp_path.iterdir()) == []


@given(position=st.integers(0, len(GOOD) - 1), flip=st.integers(1, 255))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_a_flipped_byte_never_escapes_as_another_error(tmp_path_factory, position, flip):
    path = tmp_path_factory.getbasetemp() / "flipped.npz"
    path.write_bytes(GOOD[:position] + bytes([GOOD[position] ^ flip]) + GOOD[position + 1 :])
    try:
        demos = load(path)
    except SfmError:
        return
    np.testing.assert_array_equal(demos.obs[0], states(4))  # the flip was in a field that nobody reads


@pytest.mark.skipif(not SHARED.exists(), reason="the authors' demonstrations are not here")
def test_the_authors_demonstrations():
    demos = load(SHARED)
    check(demos, 24, str(SHARED))
    assert demos.obs.shape == (5, 1001, 24)
    assert demos.action is not None
    assert demos.action.shape == (5, 1000, 6)
    assert demos.length.tolist() == [1000] * 5
