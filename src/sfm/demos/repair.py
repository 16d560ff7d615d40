"""What a file needs before it is read: other names, columns, units, times. Undoes what the doctor finds."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfm.errors import SfmError, unknown

Parts = dict[str, np.ndarray]  # state[t+1,o], perhaps action[t,a], reward[t,1], qpos[t+1,nq], qvel[t+1,nv]
OF_STEPS = ("action", "reward")


@dataclass(frozen=True)
class Repair:
    """How demonstrations are changed while they are read; dimensions count from 0, as the doctor counts.

    Columns are a list such as 0,3,7-9, or their names where the file has some. Scales, degrees and lists of
    columns all mean the columns of the file, whatever else is changed.
    """

    key: str = ""
    """The field that holds the states of LeRobot, Minari, imitation or npz; several are joined: a,b."""
    rename: tuple[str, ...] = ()
    """Read a column or a field by another name: OLD=NEW, as in hip=action_0 or observations=obs."""
    columns: str = ""
    """Keep only these columns of the states, in this order."""
    drop: str = ""
    """Leave these columns of the states out; `action` and `reward` leave those out."""
    reorder: str = ""
    """Put the columns of the states in this order; each is named once."""
    scale: tuple[str, ...] = ()
    """Multiply columns by a factor: 3,7-9=0.001, action=0.5, or one factor for all states."""
    degrees: str = ""
    """Turn these columns from degrees into radians; `all` for all."""
    every: int = 1
    """Keep one state in this many; actions between them are averaged, rewards summed."""
    slice: str = ""
    """Keep the states from time A to before time B of each demonstration: A:B, either may be missing."""

    def __post_init__(self) -> None:
        if self.columns and self.reorder:
            raise SfmError("--columns and --reorder exclude each other: --columns keeps its order, too")
        if self.every < 1:
            raise SfmError("--every must be at least 1")
        _bounds(self.slice)
        for text in self.rename:
            if not re.fullmatch(r"[^=]+=[^=]+", text):
                raise SfmError(f"--rename {text}: write OLD=NEW, as in hip=action_0")
        for text in self.scale:
            _factor(text)

    def renamed(self, present: Sequence[str]) -> list[str]:
        """The names `present` in a file as they are to be read."""
        names = dict(text.split("=") for text in self.rename)
        for old in names:
            if old not in present:
                raise unknown("column to rename", old, present)
        new = [names.get(name, name) for name in present]
        if twice := sorted({name for name in new if new.count(name) > 1}):
            raise SfmError(f"--rename: there would be two columns called '{twice[0]}'")
        return new

    def source(self, present: Iterable[str], name: str) -> str:
        """The field of a file that is read as `name`."""
        present = list(present)
        return dict(zip(self.renamed(present), present, strict=True)).get(name, name)

    def sources(self, present: Iterable[str], name: str) -> list[str]:
        """The fields that hold the states, `name` where none was asked for."""
        present = list(present)
        wanted = [part.strip() for part in self.key.split(",")] if self.key else [self.source(present, name)]
        for part in wanted if self.key else ():
            if part not in present:
                raise unknown("field", part, present)
        return wanted

    def ignored(self, names: Sequence[str]) -> set[int]:
        """Which of the state columns called `names` will not be kept: they may hold anything."""
        return set(range(len(names))) - set(self._kept(names, len(names)))

    def apply(self, parts: Parts, names: Sequence[str] = ()) -> Parts:
        """One demonstration, changed; `names` are those of its state columns, where there are some."""
        left_out, obs = _items(self.drop), parts["state"]
        parts = {kind: values for kind, values in parts.items() if kind not in left_out}
        for text in self.scale:
            which, factor = _factor(text)
            if which != "action":
                obs = _scaled(obs, _listed(which, names, obs.shape[1], "--scale"), factor)
            elif "action" in parts:
                parts["action"] = parts["action"] * factor
        if self.degrees:
            obs = _scaled(obs, _listed(self.degrees, names, obs.shape[1], "--degrees"), np.pi / 180)
        if self.columns or self.drop or self.reorder:
            obs = obs[:, self._kept(names, obs.shape[1])]
        parts["state"] = obs
        if self.slice:
            begin, end, _ = slice(*_bounds(self.slice)).indices(len(obs))
            steps, states = slice(begin, max(end - 1, begin)), slice(begin, end)
            parts = {kind: x[steps if kind in OF_STEPS else states] for kind, x in parts.items()}
        return _thinned(parts, self.every)

    def _kept(self, names: Sequence[str], count: int) -> list[int]:
        """The state columns that are kept, in their order."""
        order = _listed(
            self.reorder or self.columns, names, count, "--reorder" if self.reorder else "--columns"
        )
        if self.reorder and sorted(order) != list(range(count)):
            raise SfmError(f"--reorder must name each of the {count} columns once, as in 0,2,1,3-{count - 1}")
        drop = ",".join(item for item in _items(self.drop) if item not in ("action", "reward"))
        dropped = _listed(drop, names, count, "--drop") if drop else []
        kept = [i for i in order if i not in dropped]
        if not kept:
            raise SfmError("--drop leaves no column of the states")
        return kept


def _thinned(parts: Parts, every: int) -> Parts:
    """Each `every`-th state; what is left over at the end goes."""
    steps = (len(parts["state"]) - 1) // every
    if every == 1:
        return parts
    end, means = steps * every, {"action": np.mean, "reward": np.sum}
    return {
        kind: means[kind](x[:end].reshape(steps, every, -1), axis=1)
        if kind in OF_STEPS
        else x[: end + 1 : every]
        for kind, x in parts.items()
    }


def _scaled(obs: np.ndarray, columns: list[int], factor: float) -> np.ndarray:
    scaled = obs.astype(np.float64)
    scaled[:, columns] *= factor
    return scaled


def _factor(text: str) -> tuple[str, float]:
    """«3,7-9=0.001» as columns and factor; a factor alone is for all."""
    which, equals, number = text.rpartition("=")
    try:
        factor = float(number)
    except ValueError:
        factor = np.nan
    if not np.isfinite(factor) or (equals and not which):
        raise SfmError(f"--scale {text}: write COLUMNS=FACTOR, as in 3,7-9=0.001, or a factor alone")
    return which or "all", factor


def _bounds(text: str) -> tuple[int | None, int | None]:
    found = re.fullmatch(r"(-?\d*):(-?\d*)", text or ":")
    if not found or "-" in found.groups():
        raise SfmError(f"--slice {text}: write A:B, as in 100:600, 100: or :600")
    begin, end = (int(part) if part else None for part in found.groups())
    return begin, end


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _listed(text: str, names: Sequence[str], count: int, option: str) -> list[int]:
    """The columns that a list names, in its order; an empty list and `all` name all."""
    if text in ("", "all"):
        return list(range(count))
    columns = []
    for item in _items(text):
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", item)
        if item.lower() in names:
            columns.append(names.index(item.lower()))
        elif span is None:
            known = names or [f"0 to {count - 1}"]
            raise SfmError(f"{option}: {unknown('column', item, known)}")
        else:
            first, last = int(span[1]), int(span[2] or span[1])
            if not first <= last < count:
                raise SfmError(f"{option} {item}: the states have columns 0 to {count - 1}")
            columns += range(first, last + 1)
    if len(set(columns)) < len(columns):
        raise SfmError(f"{option} {text}: a column is named twice")
    return columns


NONE = Repair()
