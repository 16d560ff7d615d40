"""Which joint of a model follows what of a clip: read from TOML, or proposed by similar names."""

import difflib
import math
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sfm.demos.motion import bundled, expression
from sfm.demos.motion.clip import Clip
from sfm.errors import SfmError, unknown

_SIDES = {"r": "right", "l": "left"}
_FILLERS = {"angle", "flexion", "joint", "rotation"}
_NEAR = 0.62  # names less alike than this are not proposed


class Entry(NamedTuple):
    """What one joint follows; numbers are in the units of the clip's file."""

    expression: str
    scale: float = 1.0
    offset: float = 0.0
    clip: tuple[float, float] = (-math.inf, math.inf)
    along: tuple[float, float, float] | None = None  # the limb at rest in the clip: only its direction counts


Mapping = dict[str, Entry]


def load(path: str | Path) -> Mapping:
    """From TOML: joint = "expression", a number, or a table with from, scale, offset, clip, along."""
    path = bundled.mapping(path)
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        ours = ", ".join(bundled.names(bundled.MAPPINGS))
        raise SfmError(f"could not read {path}: {error.strerror}; by name there are {ours}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SfmError(f"{path} is not TOML: {error}") from error
    return from_table(table, str(path))


def from_table(table: dict[str, Any], source: str = "the mapping") -> Mapping:
    """Of the same form as the TOML file."""
    return {joint: _entry(f"{source}: {joint}", value) for joint, value in table.items()}


def _entry(where: str, given: Any) -> Entry:
    if isinstance(given, Entry):
        return given
    fields = given if isinstance(given, dict) else {"from": given}
    known = {"from", "scale", "offset", "clip", "along"}
    if not fields.keys() <= known:
        raise unknown(f"field of {where}", min(fields.keys() - known), known)
    text = fields.get("from", "")
    text = str(text) if _is_number(text) else text
    if not isinstance(text, str) or not text.strip():
        raise SfmError(f'{where} must be an expression such as "hip_flexion_r" or a number')
    expression.parse(text)
    numbers: dict[str, Any] = {k: fields[k] for k in ("scale", "offset") if k in fields}
    lists: dict[str, Any] = {
        k: tuple(_list(where, k, fields[k], n)) for k, n in (("clip", 2), ("along", 3)) if k in fields
    }
    for name, value in numbers.items():
        if not _is_number(value):
            raise SfmError(f"{where}: {name} must be a number")
    if "clip" in lists and not lists["clip"][0] < lists["clip"][1]:
        raise SfmError(f"{where}: clip must be [lowest, highest]")
    return Entry(text, **numbers, **lists)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _list(where: str, name: str, value: Any, count: int) -> tuple[float, ...]:
    if not isinstance(value, (list, tuple)) or len(value) != count or not all(map(_is_number, value)):
        raise SfmError(f"{where}: {name} must be {count} numbers")
    return tuple(value)


def check(mapping: Mapping, clip: Clip, joints: list[str]) -> None:
    """Refuses joints that the model has not, and names that the clip has not."""
    for joint, entry in mapping.items():
        if joint not in joints:
            raise unknown("joint of the model", joint, joints)
        for name in sorted(expression.names(entry.expression)):
            if name not in clip.names:
                raise unknown("name in the clip", name, clip.names)


def bundled_for(clip: Clip, joints: list[str]) -> str | None:
    """The mapping of the package that fits this clip and this model, if one does."""
    for name in bundled.names(bundled.MAPPINGS):
        try:
            check(load(bundled.MAPPINGS / f"{name}.toml"), clip, joints)
        except SfmError:
            continue
        return name
    return None


def by_name(clip: Clip, joints: Iterable[str]) -> Mapping:
    """Joints that the clip knows by their own name."""
    return {joint: Entry(joint) for joint in joints if joint in clip.names}


def proposed(clip: Clip, joints: Iterable[str]) -> Mapping:
    """The nearest name of the clip for each joint, where one is near: a beginning, to be looked at."""
    found: Mapping = {}
    for joint in joints:
        near = {name: _likeness(joint, name) for name in clip.names}
        best = max(near, key=lambda name: near[name])
        if near[best] >= _NEAR:
            found[joint] = Entry(best)
    return found


def as_toml(mapping: Mapping, clip: Clip, joints: Iterable[str]) -> str:
    """The proposal as a file to edit: with the joints that have nothing, and the names that no joint uses."""
    used = set().union(*(expression.names(entry.expression) for entry in mapping.values()))
    lines = [f"# From {Path(clip.source).name}, proposed by similar names: look at each line."]
    for joint in joints:
        text = f'"{mapping[joint].expression}"' if joint in mapping else '""  # nothing alike: it stays still'
        lines.append(f"{'' if joint in mapping else '# '}{_key(joint)} = {text}")
    unused = [name for name in clip.names if name not in used]
    lines.append(f"# not used: {', '.join(unused) or 'nothing'}")
    return "\n".join(lines) + "\n"


def _key(joint: str) -> str:
    return joint if re.fullmatch(r"[\w-]+", joint, re.ASCII) else f'"{joint}"'


def _likeness(joint: str, name: str) -> float:
    """From 0 to 1; names of different sides are not alike."""
    (side, a), (other, b) = _parts(joint), _parts(name)
    if side != other:
        return 0.0
    return difflib.SequenceMatcher(None, " ".join(a), " ".join(b)).ratio()


def _parts(name: str) -> tuple[str, list[str]]:
    """Side, and words without those that say nothing."""
    words = re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    words = [str(_SIDES.get(word, word)) for word in words]
    side = next((side for side in _SIDES.values() if side in words), "")
    rest = [word for word in words if word not in (side, *_FILLERS)]
    return side, rest or words
