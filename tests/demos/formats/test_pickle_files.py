"""Pickled arrays of all ages come back, and nothing else in a pickle is ever run."""

import os
import pickle
import pickletools
import resource
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from sfm.demos import Demos, load
from tests.demos.samples import PYTHON_2, any_demos, assert_equal, few, refused, write_pickles


@pytest.mark.parametrize("protocol", range(6))
@given(original=any_demos())
@few
def test_pickles_of_any_protocol(tmp_path_factory, protocol, original):
    path = write_pickles(tmp_path_factory.mktemp("pickles") / "x", original, protocol)
    assert_equal(load(path), original)


@pytest.mark.parametrize("protocol", range(3))
@pytest.mark.parametrize(
    ("mark", "other"),
    [(b"", b""), (b"U\x18", b"T\x18\0\0\0"), (b"I2\nI3\n", b"L2L\nL3L\n")],  # long strings, long numbers
)
def test_pickles_of_python_2(tmp_path, protocol, mark, other):
    (tmp_path / "x.pkl").write_bytes(PYTHON_2[protocol].replace(mark, other) if mark else PYTHON_2[protocol])
    states = np.array([[0, -1.5, 3e5], [1e-9, 7, 128.25]], np.float32)
    assert_equal(load(tmp_path / "x.pkl"), Demos.from_list([states], [[[0.5]]]))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4", np.int16])
def test_pickles_of_any_number_type(tmp_path, protocol, dtype):
    obs = np.arange(12).reshape(4, 3).astype(dtype)
    for i, value in enumerate(((obs, obs[:, :1]), [obs, obs[:3, :1]], (np.asfortranarray(obs), obs[:, :1]))):
        path = tmp_path / f"{i}.pkl"
        path.write_bytes(pickle.dumps(value, protocol))
        assert_equal(load(path), Demos.from_list([obs], [obs[:, :1]]))


class Attack:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments, state=None):
        self.call = function, arguments
        self.state = state

    def __reduce__(self):
        return (*self.call, self.state) if self.state is not None else self.call


def test_pickles_never_run_code(tmp_path):
    canary = tmp_path / "canary"
    touch = f"touch {canary}"
    code = f"open({str(canary)!r}, 'w')"
    obs = np.zeros((3, 2), np.float32)
    payloads = [
        Attack(os.system, touch),
        Attack(subprocess.call, ["touch", str(canary)]),
        Attack(eval, code),
        Attack(exec, code),
        Attack(open, str(canary), "w"),
        Attack(getattr, obs, "tofile"),
        Attack(__import__, "antigravity"),
        Attack(np.load, str(canary)),
        Attack(np.fromfile, str(canary)),
        Attack(np.memmap, str(canary), "f4", "w+", 0, (3,)),
        Attack(pickle.loads, b"."),
        Attack(print, "x"),
        Attack(type, "X", (), {}),
        Attack(np.dtype, "O"),
        Attack(np.ndarray, (10**6, 10**6)),
        Attack(dict),
    ]
    values = [
        value for payload in payloads for value in (payload, (obs, payload), [payload, obs], (obs, [payload]))
    ]
    values += [
        {"obs": obs},
        {1, 2},
        None,
        3,
        "text",
        b"bytes",
        (obs,) * 3,
        (),
        [[obs]],
        np.float32(3),
        obs.astype(object),
    ]
    values += [
        np.array(["a", "b"]),
        np.zeros(3, "M8[s]"),
        np.zeros(3, "f4,i4"),
        obs.view(np.matrix),
        np.ma.array(obs),
    ]
    for i, value in enumerate(values):
        for protocol in range(6):
            refused(tmp_path / f"{i}.pkl", pickle.dumps(value, protocol))
    name = b"cnumpy\nndarray\n"
    programs = [
        b"cos\nsystem\n(S'" + touch.encode() + b"'\ntR.",
        b"(S'" + touch.encode() + b"'\nios\nsystem\n.",
        b"(cos\nsystem\nS'" + touch.encode() + b"'\no.",
        b"cposix\nsystem\n(V" + touch.encode() + b"\ntR.",
        b"c__builtin__\neval\n(V" + code.encode() + b"\ntR.",
        b"c__builtin__\ngetattr\n(cnumpy\nndarray\nS'tofile'\ntR.",
        b"cbuiltins\ngetattr\n(c_codecs\nencode\nVx\ntR.",
        b"c_codecs\nencode\n.",
        b"c_codecs\nencode\n(Vabc\nVlatin1\ntR.",  # text is no array
        b"c_codecs\nencode\n(Vabc\nVrot13\ntR.",
        b"c_codecs\nencode\n(Vabc\nVlatin1\nVignore\ntR.",
        b"c_codecs\nencode\n(cnumpy\nndarray\nVlatin1\ntR.",
        b"c_codecs\nencode\n(Vabc\ntR.",
        b"c_codecs\nencode\nN}b.",
        b"c_codecs\nregister\n(cnumpy\nndarray\ntR.",
        b"ccodecs\nencode\n(Vabc\nVlatin1\ntR.",
        b"(dVa\nI1\ns.",
        b"I" + b"9" * 100_000 + b"\n.",
        b"N" + b"p99999999999999\n" + b".",
        b"Ppersistent\n.",
        b"\x80\x02" + name + b"}(X\x01\x00\x00\x00aK\x01ub.",
        b"\x80\x02" + name + b")\x81.",
        b"\x80\x02" + name + b"b.",
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}b.",
        b"\x80\x02cnumpy.core.multiarray\nscalar\n)R.",
        b"\x80\x02csfm.demos.formats.pickle_files\nread\n)R.",
        b"\x80\x04\x8c\x05numpy\x8c\x0fndarray.tofile\x93.",
        b"\x80\x04\x8c\x05numpy\x8c\x07os.path\x93.",
        b"\x80\x02\x82\x01.",  # the extension registry
        b"\x80\x02K\x01Q.",  # a persistent id
        b"\x80\x05\x97.",  # an out-of-band buffer
        b"\x80\x02N" + b"r\xff\xff\xff\xff" + b".",  # a memo of four billion places
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x.",
        b"\x80\x04\x96" + struct.pack("<Q", 2**40) + b"x.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",  # a number of two billion bytes
        b"\x80\x02" + b"(" * 100_000 + b"t.",
        b"\x80\x02]" + b"]a" * 100_000 + b".",
        b"\x80\x02" + b")\x85\x85" * 1000 + b".",
        b"\x80\x63.",
    ]
    for i, program in enumerate(programs):
        refused(tmp_path / f"p{i}.pkl", program)
    assert not canary.exists()


def test_a_pickled_array_with_a_forged_shape_or_type(tmp_path):
    good = pickle.dumps((np.zeros((3, 2), np.float32),), 4)
    assert load_bytes(tmp_path, good).obs.shape == (1, 3, 2)
    shape, code = b"K\x03K\x02\x86", b"\x8c\x02f4"
    assert shape in good
    assert code in good
    for forged in (
        b"K\x03K\x03\x86",
        b"K\xffK\xff\x86",
        b"J\xff\xff\xff\xffJ\xfa\xff\xff\xff\x86",
        b"NK\x02\x86",
    ):
        refused(tmp_path / "x.pkl", good.replace(shape, forged))
    for forged in (
        b"\x8c\x02O8",
        b"\x8c\x01O",
        b"\x8c\x02f8",
        b"\x8c\x02S4",
        b"\x8c\x02M8",
        b"\x8c\x05f4,f4",
        b"K\x04",
    ):
        refused(tmp_path / "x.pkl", _unframed(good).replace(code, forged))


def test_a_pickle_makes_no_more_arrays_than_it_returns(tmp_path):
    size = 1 << 20
    text = b"\x80\x02X" + struct.pack("<I", size) + bytes(size) + b"q\0"
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n)R(K\x01J" + struct.pack("<i", size) + b"\x85cnumpy\ndtype\n"
    )
    array += b"U\x02u1\x85R\x89c_codecs\nencode\nh\0X\x06\0\0\0latin1\x86Rtb"
    assert f"shape [{size}]" in refused(tmp_path / "x.pkl", text + array + b".")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "found 4000 objects" in refused(tmp_path / "x.pkl", text + b"(" + array * 4000 + b"t.")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    # Numbers too large to multiply, and too many of them
    for shape in (b"(I0x" + b"f" * 10**6 + b"\nt", b"(" + b"J\xff\xff\xff\x7f" * 10**5 + b"t"):
        forged = array.replace(b"J" + struct.pack("<i", size) + b"\x85", shape)
        assert "no proper shape" in refused(tmp_path / "x.pkl", text + forged + b".")


def _unframed(data: bytes) -> bytes:
    """Without the frame, whose length a replacement would break."""
    frame = next(pos for op, _, pos in pickletools.genops(data) if op.name == "FRAME")
    return data[:frame] + data[frame + 9 :]


def load_bytes(folder: Path, data: bytes) -> Demos:
    (folder / "x.pkl").write_bytes(data)
    return load(folder / "x.pkl")
