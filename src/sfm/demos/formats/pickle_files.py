"""Pickles of NumPy arrays, as the paper's authors publish them, read without running what they say.

A pickle is a program. This reader knows the few instructions that arrays are made of and refuses all others;
where the program names NumPy's functions it gets the stand-ins below, and nothing else has a name. Arrays are
made after its end, of what it returns alone, so that a short program cannot make many.
"""

import io
import math
import pickle
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sfm.demos.limits import check_memory
from sfm.demos.stack import Stack
from sfm.errors import SfmError


def read(path: Path, stack: Stack) -> None:
    """Adds a demonstration: a pair (states [T+1,o], actions [T+1,a] or [T,a]) or states alone."""
    # Beside the file there may be a copy of a part of it, and that part as text of four bytes a letter.
    check_memory(str(path), 6 * path.stat().st_size)
    found = _Reader(io.BytesIO(path.read_bytes()), encoding="latin1").load()
    pair = found if isinstance(found, tuple | list) else (found,)
    if len(pair) not in (1, 2) or not all(isinstance(part, _Array) and part.made_of for part in pair):
        what = f"{len(found)} objects" if pair is found else type(found).__name__.strip("_").lower()
        raise SfmError(f"{path}: expected a pair of NumPy arrays (states, actions), found {what}")
    stack.add(*(_array(*part.made_of) for part in pair))


class _Array:
    """Stands in for an array: `made_of` are the arguments of `_array`, none until its state arrives."""

    def __init__(self, *made_of: Any):
        self.made_of = made_of

    def set_state(self, state: Any) -> None:
        _version, shape, dtype, fortran, data = state
        self.made_of = data, dtype, shape, "F" if fortran else "C"


class _Dtype:
    """Stands in for a dtype of numbers."""

    def __init__(self, code: Any, *_: Any):
        if not isinstance(code, str) or not re.fullmatch(r"b1|[iu][1248]|f[248]", code):
            raise SfmError(f"arrays of '{str(code)[:20]}' are refused: only numbers are read")
        self.value = np.dtype(code)

    def set_state(self, state: Any) -> None:
        if state[1] not in ("<", ">", "|", "="):
            raise SfmError("an array has an unknown byte order")
        self.value = self.value.newbyteorder(state[1])


def _array(data: Any, dtype: Any, shape: Any, order: Any) -> np.ndarray:
    if isinstance(data, str):  # protocols 0 to 2 have no bytes, only text with a letter for each
        data = data.encode("latin1")
    if not (isinstance(data, bytes | bytearray) and isinstance(dtype, _Dtype) and isinstance(shape, tuple)):
        raise SfmError("an array is not made of bytes, a type and a shape")
    proper = len(shape) <= 32 and all(type(size) is int and 0 <= size < 1 << 48 for size in shape)
    if not proper or order not in ("C", "F"):
        raise SfmError("an array has no proper shape")
    if math.prod(shape) * dtype.value.itemsize != len(data):
        raise SfmError(f"an array of shape {list(shape)} comes with {len(data):,} bytes")
    return np.frombuffer(data, dtype.value).reshape(shape, order=order)


def _encode(text: Any, encoding: Any) -> Any:
    if encoding != "latin1" or not isinstance(text, str):
        raise SfmError("it calls something that is not an array")
    return text


# NumPy 2 renamed `core` to `_core`. Protocol 5 makes arrays by `_frombuffer`, older ones by `_reconstruct`,
# which Python 3 gives bytes by `encode` in protocols 0 to 2.
_NAMES = {
    ("numpy", "ndarray"): None,  # an argument of `_reconstruct`, never called
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): lambda *_: _Array() for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _Array for core in ("core", "_core")},
}


class _Reader(pickle._Unpickler):
    """The Python version of the unpickler: its instructions can be taken away, its memo is a dictionary."""

    stack: list[Any]
    dispatch: ClassVar[dict[int, Any]] = {
        code[0]: pickle._Unpickler.dispatch[code[0]]
        for code in (
            *(pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.NONE, pickle.NEWTRUE),
            *(pickle.NEWFALSE, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1),
            *(pickle.SHORT_BINUNICODE, pickle.BINUNICODE, pickle.SHORT_BINBYTES, pickle.BINBYTES),
            *(pickle.BINBYTES8, pickle.BYTEARRAY8, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1),
            *(pickle.TUPLE2, pickle.TUPLE3, pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS),
            *(pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE, pickle.BINGET, pickle.LONG_BINGET),
            *(pickle.GLOBAL, pickle.STACK_GLOBAL),
            # Protocols 0 to 2, and strings of Python 2
            *(pickle.INT, pickle.LONG, pickle.UNICODE, pickle.STRING, pickle.BINSTRING),
            *(pickle.SHORT_BINSTRING, pickle.LIST, pickle.PUT, pickle.GET),
        )
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NAMES:
            raise SfmError(f"it asks for {str(module)[:40]}.{str(name)[:40]}; only NumPy arrays are read")
        return _NAMES[module, name]

    def load_reduce(self) -> None:
        arguments = self.stack.pop()
        if not callable(self.stack[-1]):  # what is, is a stand-in: nothing else that can be called has a name
            raise SfmError("it calls something that is not an array")
        self.stack[-1] = self.stack[-1](*arguments)

    def load_build(self) -> None:
        state = self.stack.pop()
        if not isinstance(self.stack[-1], _Array | _Dtype):
            raise SfmError("it fills in something that is not an array")
        self.stack[-1].set_state(state)

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.BUILD[0]] = load_build
