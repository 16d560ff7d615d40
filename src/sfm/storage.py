"""Files that are either whole or not there: atomic writes, checksummed arrays, no pickle."""

import contextlib
import errno
import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from sfm.errors import SfmError

TEMPORARY = ".tmp-"  # a file with this prefix is half written; after a kill it is garbage

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EFBIG: "the file is larger than the system allows; raise the limit (ulimit -f) or use another disk",
    errno.EACCES: "no permission; choose another folder or change its permissions",
    errno.EPERM: "no permission; choose another folder or change its permissions",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EEXIST: "a part of the path is a file; choose another folder",
    errno.EISDIR: "it is a folder; choose another name",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ELOOP: "links lead in a circle; choose another folder",
}


def cannot_write(path: Path, error: OSError) -> SfmError:
    """The one-line error for a write that the system refused."""
    return SfmError(f"could not write {_short(path)}: {_ADVICE.get(error.errno or 0, _first_line(error))}")


def reason(error: OSError) -> str:
    """What the system refused, in one line."""
    name = "" if error.filename is None else f"{_short(error.filename)}: "
    return name + _ADVICE.get(error.errno or 0, _first_line(error))


def _first_line(error: OSError) -> str:
    """Third-party libraries raise OSErrors without a number and with many lines of log."""
    return (error.strerror or str(error) or type(error).__name__).strip().splitlines()[0]


def _short(path: object) -> str:
    """A path as it may stand in a line."""
    text = str(path).replace("\n", " ")
    return text if len(text) <= 200 else f"{text[:100]}...{text[-60:]}"


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yields a temporary path to fill (same folder and suffix); it becomes `path` if the block succeeds."""
    path = Path(path)
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(4)}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _sync_folder(folder: Path) -> None:
    """Makes a rename survive a power cut, where the file system offers that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_bytes(path: Path, data: bytes) -> None:
    with atomic(path) as temporary:
        temporary.write_bytes(data)


def to_json(value: Any, indent: int | None = None) -> str:
    """Valid JSON of nested dicts, sequences, NumPy and JAX scalars or arrays; NaN and inf become null."""
    return json.dumps(_plain(value), indent=indent, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(path: Path, value: Any) -> None:
    """Readable JSON, see `to_json`."""
    write_bytes(path, (to_json(value, indent=2) + "\n").encode())


def read_json(path: Path) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise _cannot_read(path, error) from error
    except ValueError as error:  # bad JSON and bad UTF-8
        raise SfmError(f"{path} is not valid JSON: {error}") from error


# A file of arrays is a plain safetensors file. Its header begins with the sha256 of the whole file in which
# the 64 digits themselves are zeros: safetensors notices neither a flipped byte nor a swapped name.
_BEFORE_DIGEST = b'{"__metadata__":{"sha256":"'
_NO_DIGEST = b"0" * 64
_DIGEST_START = 8 + len(_BEFORE_DIGEST)
_DTYPES = {
    "bool": "BOOL",
    **{f"{kind}{bits}": f"{kind[0].upper()}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Writes arrays and `meta` (anything JSON, NaN and inf included) as one safetensors file.

    Equal contents give equal bytes. Written here rather than by safetensors, whose writer holds a second
    copy of all arrays and hides the system's error number.
    """
    # The format wants wide types first, so that all arrays are aligned.
    plain = ((name, np.asarray(array)) for name, array in arrays.items())
    items = sorted(plain, key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: dict[str, Any] = {"__metadata__": {"sha256": _NO_DIGEST.decode(), "meta": json.dumps(meta)}}
    end = 0
    for name, array in items:
        if array.dtype.name not in _DTYPES:
            raise SfmError(f"could not write {path}: '{name}' has unsupported type {array.dtype}")
        start, end = end, end + array.nbytes
        kind = _DTYPES[array.dtype.name]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)

    digest = hashlib.sha256()
    with atomic(path) as temporary, open(temporary, "wb") as file:
        for part in (len(text).to_bytes(8, "little"), text, *(_little_endian(array) for _, array in items)):
            digest.update(part)
            file.write(part)
        file.seek(_DIGEST_START)
        file.write(digest.hexdigest().encode())


def _little_endian(array: np.ndarray) -> memoryview:
    """The bytes of an array, copied only if it is not contiguous or of the other byte order."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return array.reshape(-1).view(np.uint8).data


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Returns the arrays and `meta` of `write_arrays`; an error if a single bit of the file has changed."""
    path = Path(path)
    try:
        if not _is_intact(path):
            raise SfmError(f"{path} is damaged (checksum does not match)")
        with safe_open(path, framework="np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["meta"])  # noqa: SIM118
    except OSError as error:
        raise _cannot_read(path, error) from error
    except (SafetensorError, KeyError, ValueError) as error:
        raise SfmError(f"{path} was not written by sfm: {error}") from error


def read_meta(path: Path) -> dict[str, Any]:
    """`meta` of `write_arrays`, without a look at the arrays: empty where it cannot be read."""
    try:
        with safe_open(Path(path), framework="np") as file:
            return json.loads(file.metadata()["meta"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return {}


def _is_intact(path: Path) -> bool:
    with open(path, "rb") as file:
        head, found = file.read(_DIGEST_START), file.read(len(_NO_DIGEST))
        digest = hashlib.sha256(head + _NO_DIGEST)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest().encode() == found


def _cannot_read(path: Path, error: OSError) -> SfmError:
    if isinstance(error, FileNotFoundError):
        return SfmError(f"{_short(path)} not found")
    return SfmError(f"could not read {_short(path)}: {_ADVICE.get(error.errno or 0, _first_line(error))}")
