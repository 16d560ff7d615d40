"""NumPy files: layouts, damaged ones, bombs and forged headers."""

import io
import re
import resource
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfm.demos import Demos, load
from sfm.errors import SfmError
from tests.demos.samples import (
    BAD_STATE,
    actions,
    assert_equal,
    refused,
    states,
)


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


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(compression: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def header(text: str, data: bytes = b"") -> bytes:
    """A .npy file with any text for a header."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def test_bombs_and_forged_headers_cost_nothing(tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    zeros = bytes(100 << 20)
    text = "{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}"
    bomb = npz(obs=header(text.format((26_214_400, 1)), zeros))
    assert len(bomb) < 200_000
    assert "claim to hold" in refused(tmp_path / "bomb.npz", bomb)
    many = header("{'descr': '|u1', 'fortran_order': False, 'shape': (25000000, 2, 1), }", bytes(50_000_000))
    assert "more than 100,000" in refused(tmp_path / "many.npz", npz(obs=many))
    shapes = [
        "(10**12,)",
        (10**12,),
        (10**12, 3),
        (2**62, 4),
        (-3, -2),
        (0, 10**12, 3),
        (3, -2),
        (10**12, 0, 3),
    ]
    shapes += [
        "(3,2",
        "None",
        "'ab'",
        "((3,),2)",
        "(3.0,2)",
        "(True,2)",
        "(" * 3000 + ")" * 3000,
        "[3,2]",
        "()",
        "(3,)",
    ]
    for shape in shapes:
        for data in (b"", bytes(24), bytes(25)):
            member = header(text.format(shape), data)
            refused(tmp_path / "x.npy", member)
            refused(tmp_path / "x.npz", npz(obs=member))
            refused(tmp_path / "x.npz", npz(obs=npy(np.zeros((3, 2))), action=member))
    for descr in (
        "'O'",
        "'|O'",
        "'<U9'",
        "'<M8[s]'",
        "'|V4'",
        "'<c8'",
        "[('a','<f4')]",
        "'evil'",
        "3",
        "'f4,O'",
    ):
        bad = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (3, 2), }"
        refused(tmp_path / "x.npy", header(bad, bytes(24)))
        refused(tmp_path / "x.npz", npz(obs=header(bad, bytes(24))))
    forged = bytearray(npz(zipfile.ZIP_STORED, obs=npy(np.zeros((3, 2)))))
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # the declared size, in both places
        place = forged.index(signature) + at
        forged[place : place + 4] = struct.pack("<I", 2**31)
    refused(tmp_path / "x.npz", bytes(forged))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 400 << 10  # kilobytes; the bombs themselves are made here


def test_mixed_and_inconsistent_arrays(tmp_path):
    good = npy(np.zeros((2, 4, 3)))
    for members in (
        {"action": good},
        {"obs": npy(np.zeros(3)), "action": good},
        {"obs": good, "action": npy(np.zeros((3, 3, 1)))},
        {"obs": good, "action": npy(np.zeros((2, 2, 1)))},
        {"obs": good, "action": npy(np.zeros((2, 3, 0)))},
        {"obs": good, "action": npy(np.full((2, 3, 1), np.nan))},
        {"obs": good, "length": npy(np.array([3, 4]))},
        {"obs": good, "length": npy(np.array([3, -1]))},
        {"obs": good, "length": npy(np.array([3.0, 3.0]))},
        {"obs": good, "length": npy(np.array([3]))},
        {"obs": good, "length": npy(np.array(3))},
        {"obs": npy(np.full((2, 4, 3), 1e300))},
        {"obs": npy(np.zeros((2, 1, 3)))},
        {"obs": npy(np.zeros((2, 4, 3, 1)))},
    ):
        refused(tmp_path / "x.npz", npz(**members))
    # One long demonstration and many short ones would take terabytes once padded.
    long, short = "0,1\n" * 200_000, "".join(f"{i},1\n{i},2\n" for i in range(1, 90_000))
    assert "GB of memory" in refused(tmp_path / "x.csv", (f"episode,{'x'}\n" + long + short).encode())
