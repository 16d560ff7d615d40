"""A configuration as a dict and back, and with fields replaced by their dotted names."""

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from sfm.config.retired import understood
from sfm.config.run import Config
from sfm.errors import SfmError, unknown


def to_dict(config: Any) -> dict[str, Any]:
    """A JSON-ready dict; a learner or objective carries its `kind`."""
    out: dict[str, Any] = {"kind": config.kind} if hasattr(config, "kind") else {}
    for f in dataclasses.fields(config):
        value = getattr(config, f.name)
        out[f.name] = to_dict(value) if dataclasses.is_dataclass(value) else value
    return out


def from_dict(kind: Any, data: dict[str, Any], training: bool = True) -> Any:
    """The inverse of `to_dict`; a field we do not know is an error, not a guess.

    Files of earlier versions are understood as in `sfm.config.retired`; not `training`: to act only.
    """
    if not isinstance(data, dict):
        raise SfmError(f"a configuration must be a JSON object, not {data!r}")
    if isinstance(kind, types.UnionType):
        options = {option.kind: option for option in typing.get_args(kind)}
        name = data.get("kind", "")
        if name not in options:
            raise unknown("kind", str(name), options)
        kind = options[name]
    data = dict(understood(kind, {k: v for k, v in data.items() if k != "kind"}, training))
    hints = typing.get_type_hints(kind)
    known = {f.name for f in dataclasses.fields(kind)}
    for name, value in data.items():
        if name not in known:
            raise unknown(f"{kind.__name__} field", name, known)
        data[name] = value = _plain(value)
        if _is_whole(value) and not _fits(value, hints[name]):
            data[name] = value = int(value)
        if not _fits(value, hints[name]):
            wanted = getattr(hints[name], "__name__", hints[name])
            raise SfmError(f"{kind.__name__}.{name} must be {wanted}, not {value!r}")
    inner = {k: from_dict(hints[k], v, training) for k, v in data.items() if isinstance(v, dict)}
    inner |= {k: tuple(v) for k, v in data.items() if isinstance(v, list)}  # JSON has no tuples
    return kind(**(data | inner))


def _plain(value: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()  # 1e5


def whole(value: Any, name: str) -> int:
    """A whole number, however it is written: 3, 1e5, np.int64(3)."""
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise SfmError(f"{name} must be a whole number, not {value!r}")
    return int(value)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a plain type; other types are not judged."""
    if isinstance(kind, types.UnionType):
        return any(_fits(value, option) for option in typing.get_args(kind))
    if dataclasses.is_dataclass(kind):
        return isinstance(value, dict)
    if typing.get_origin(kind) is tuple:
        return isinstance(value, (list, tuple)) and all(_fits(x, typing.get_args(kind)[0]) for x in value)
    if isinstance(value, bool):  # which Python takes for a number
        return kind not in (int, float, str, types.NoneType)
    fitting = {float: (int, float), int: int, bool: bool, str: str, types.NoneType: types.NoneType}
    return isinstance(value, fitting.get(kind, object))


def flat(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a nested dict, by their dotted names."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def overridden(config: Config, overrides: Mapping[str, Any]) -> Config:
    """`config` with fields replaced, by their dotted path or by a part of its end that only one place has.

    `__` may stand for the dot: `steps`, `learner.lr_actor`, `learner__lr_actor`.
    """
    places, data = list(_paths(config)), to_dict(config)
    for name, value in overrides.items():
        path = tuple(name.replace(".", "__").split("__"))
        hits = [p for p in places if p == path] or [p for p in places if p[-len(path) :] == path]
        if not hits:
            plain = sorted({p[-1] for p in places})
            raise unknown("option", name, {*plain, *("__".join(p) for p in places)}, plain)
        if len(hits) > 1:
            options = " or ".join("__".join(p) for p in hits)
            raise SfmError(f"option '{name}' is ambiguous: say {options}")
        *outer, last = hits[0]
        inner = functools.reduce(dict.__getitem__, outer, data)
        inner[last] = to_dict(value) if dataclasses.is_dataclass(value) else value
    return from_dict(Config, data)  # values are checked there, all together


def _paths(config: Any) -> Iterator[tuple[str, ...]]:
    """Where a configuration has fields: its parts too, and what is in them."""
    for f in dataclasses.fields(config):
        yield (f.name,)
        value = getattr(config, f.name)
        if dataclasses.is_dataclass(value):
            yield from ((f.name, *path) for path in _paths(value))


def setting(text: str) -> tuple[str, Any]:
    """'name=value' for `overridden`, the value in JSON or else a word; the name may have dots."""
    name, equals, value = text.partition("=")
    if not equals:
        raise SfmError(f"'{text}' is no setting: write name=value, as in n_step=1")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
