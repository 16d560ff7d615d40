"""Files from strangers: damaged, wrong, or made to run code or fill the memory. Always one clear error."""

import io
import json
import os
import pickle
import pickletools
import resource
import struct
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sfm.demos import Demos, formats, load, save
from sfm.demos.types import check
from sfm.errors import SfmError

from .samples import demos, write_lerobot

GIVEN = demos()


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


def refused(path: Path, data: bytes) -> str:
    """Loads `data` from a file; what the error says."""
    path.write_bytes(data)
    with pytest.raises(SfmError) as info:
        load(path)
    assert "\n" not in str(info.value)
    assert str(path) in str(info.value)
    return str(info.value)


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[str, bytes]:
    """One good file of each format, by suffix."""
    path = tmp_path_factory.mktemp("good")
    save(path / "x.npz", GIVEN)
    save(path / "x.csv", GIVEN)
    obs, action = next(GIVEN.episodes())
    files = {
        "npz": (path / "x.npz").read_bytes(),
        "npy": npy(obs),
        "csv": (path / "x.csv").read_bytes(),
        "pkl": pickle.dumps((obs, action), 4),
        "pickle": pickle.dumps((obs, action), 0),
    }
    for module, write, file in (
        ("minari", lambda: save(path / "m", GIVEN, "minari"), path / "m" / "data" / "main_data.hdf5"),
        ("pyarrow", lambda: write_lerobot(path / "l", GIVEN), path / "l/data/chunk-000/file-000.parquet"),
    ):
        try:
            __import__(module)
        except ImportError:
            continue
        write()
        files[file.suffix[1:]] = file.read_bytes()
    return files


def test_truncated_files_are_refused(tmp_path, good):
    count = 0
    for suffix, data in good.items():
        if suffix == "csv":  # a shorter table is a table
            continue
        for end in np.unique(np.linspace(0, len(data) - 1, 150).astype(int)):
            refused(tmp_path / f"x.{suffix}", data[:end])
            count += 1
    assert count > 500


def test_mutated_files_are_refused_or_still_demonstrations(tmp_path, good):
    """A changed digit is a number too; but nothing other than finite demonstrations ever comes back."""
    rng = np.random.default_rng(0)
    refusals = 0
    for suffix, data in good.items():
        path = tmp_path / f"x.{suffix}"
        for _ in range(200):
            changed = bytearray(data)
            start = rng.integers(len(data))
            match rng.integers(4):
                case 0:
                    changed[start] ^= 1 << rng.integers(8)
                case 1:
                    changed[start : start + 8] = rng.bytes(8)
                case 2:
                    del changed[start : start + int(rng.integers(1, 40))]
                case 3:
                    changed[start:start] = rng.bytes(int(rng.integers(1, 40)))
            path.write_bytes(changed)
            try:
                found = load(path)
            except SfmError:
                refusals += 1
            else:
                check(found, None)
    assert refusals > 400


def test_wrong_contents_for_every_suffix(tmp_path, good):
    junk = [b"", b"\0" * 100, b"PK\x03\x04" + b"\0" * 50, b"\x93NUMPY", b"\x89HDF\r\n\x1a\n", b"PAR1PAR1"]
    junk += [
        b"hello, world\n" * 5,
        b"\xff\xfe1,2\n",
        b"<html></html>",
        b"\x80\x04.",
        b"{}",
        b"version https://git-lfs",
    ]
    rng = np.random.default_rng(0)
    junk += [rng.bytes(int(size)) for size in rng.integers(1, 300, 20)]
    for suffix in formats._SUFFIXES:
        for data in junk:
            refused(tmp_path / f"x{suffix}", data)


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
        b"\x80\x02csfm.demos.pickles\nread\n)R.",
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


def test_minari_never_builds_the_environment_it_names(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("minari")
    canary = tmp_path / "canary"
    save(tmp_path / "x", GIVEN, "minari")
    path, file = tmp_path / "x" / "data" / "metadata.json", tmp_path / "x" / "data" / "main_data.hdf5"
    metadata, data = json.loads(path.read_text()), file.read_bytes()
    spec = {"id": "Evil-v0", "entry_point": "os:system", "kwargs": {"command": f"touch {canary}"}}
    evil = {key: value for key, value in metadata.items() if not key.endswith("_space")}
    path.write_text(json.dumps(evil | {"env_spec": json.dumps(spec)}))
    load(tmp_path / "x")
    assert not canary.exists()
    for bad in (
        "",
        "[" * 100_000,
        "[]",
        '{"total_episodes": 9}',
        '{"data_format": "arrow"}',
        '{"action_space": "{"}',
    ):
        path.write_text(bad)
        with pytest.raises(SfmError):
            load(tmp_path / "x")
    path.write_text(json.dumps(metadata))
    (tmp_path / "secret").write_bytes(bytes(100))
    for change in (_link, _external, _virtual, _dictionary, _bomb, _text):
        file.write_bytes(data)
        with h5py.File(file, "a") as groups:
            del groups["episode_1/observations"]
            change(h5py, groups["episode_1"], tmp_path)
        with pytest.raises(SfmError):
            load(tmp_path / "x")


def _link(h5py, group, folder):
    group["observations"] = h5py.ExternalLink(str(folder / "other.hdf5"), "/x")


def _external(h5py, group, folder):
    group.create_dataset("observations", (3, 3), "f4", external=[(str(folder / "secret"), 0, 36)])


def _virtual(h5py, group, folder):
    layout = h5py.VirtualLayout((3, 3), "f4")
    layout[:] = h5py.VirtualSource(str(folder / "other.hdf5"), "x", (3, 3))
    group.create_virtual_dataset("observations", layout)


def _dictionary(h5py, group, folder):
    group.create_group("observations").create_dataset("position", data=np.zeros((3, 3)))


def _bomb(h5py, group, folder):
    group.create_dataset("observations", (10**9, 3), "f4", chunks=(10**4, 3), compression="gzip")


def _text(h5py, group, folder):
    group.create_dataset("observations", data=["a", "b", "c"])


def test_damaged_folders(tmp_path):
    pytest.importorskip("datasets")
    save(tmp_path / "i", GIVEN, "imitation")
    write_lerobot(tmp_path / "l", GIVEN)
    rng = np.random.default_rng(0)
    for folder in ("i", "l"):
        for file in sorted(path for path in (tmp_path / folder).rglob("*") if path.is_file()):
            if file.name == "dataset_info.json":  # not read
                continue
            data = file.read_bytes()
            for end in np.unique(np.linspace(0, len(data) - 1, 60).astype(int)):
                file.write_bytes(data[:end])
                with pytest.raises(SfmError):
                    load(tmp_path / folder)
            for _ in range(60):
                changed = bytearray(data)
                changed[rng.integers(len(data))] ^= 1 << rng.integers(8)
                file.write_bytes(changed)
                try:
                    check(load(tmp_path / folder), None)
                except SfmError:
                    continue
            file.write_bytes(data)
    (tmp_path / "i" / "state.json").write_text('{"_data_files": [{"filename": "../l/meta/info.json"}]}')
    with pytest.raises(SfmError, match="outside of the folder"):
        load(tmp_path / "i")


def test_paths_that_no_file_can_have():
    for name in ("", "a\0b", "x" * 5000, "../" * 50 + "none", "minari:", "minari:../x", "/proc/self/mem"):
        with pytest.raises(SfmError):
            load(name)
