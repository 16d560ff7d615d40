"""A run's settings by their dotted names, and in what they differ from the preset's."""

import contextlib
import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sfm import storage
from sfm.config import Config, flat, from_dict, to_dict
from sfm.errors import SfmError, unknown
from sfm.presets import PRESETS, preset

ASIDE = ("task", "preset", "seed", "seeds", "schedule.save_seconds")  # tell no methods apart

NEEDED = {"task": str, "preset": str, "seed": int, "seeds": int, "schedule.steps": int}

Settings = dict[str, Any]


def settings_of(path: Path) -> tuple[Settings, str]:
    """The settings in a config.json by the names of today, and what is wrong with them."""
    try:
        data = storage.read_json(path)
    except SfmError as error:
        return {}, "config.json is missing" if not path.exists() else str(error)
    if not isinstance(data, dict):
        return {}, "config.json has no settings"
    found = dict(flat(data))
    usual = _usual(str(found.get("preset", "")))
    if wrong := [name for name, kind in NEEDED.items() if type(found.get(name)) is not kind]:
        return {}, f"config.json has no settings of a run: no {wrong[0]}"
    if usual.keys() == found.keys():
        return found, ""  # names of today, which need no translation; values are checked by who trains
    own = {name: data[name] for name in ("task", "seed", "seeds")}
    with contextlib.suppress(SfmError, TypeError, KeyError):  # of another version: it is shown as it is
        return _translated(json.dumps(data | {"task": "", "seed": 0, "seeds": 1})) | own, ""
    return found, ""


def changes(settings: Mapping[str, Any], chosen: int | None = None) -> Settings:
    """What differs from the preset; from the paper's defaults where the preset is not one of ours.

    chosen: the `action_repeat` that a run on this task chooses where its preset leaves that open; None: not
    known, so that whatever it has counts as chosen.
    """
    usual = _usual(str(settings.get("preset", "")))
    found = {
        name: value for name, value in settings.items() if name not in ASIDE and usual.get(name) != value
    }
    if usual.get("action_repeat") == 0 and chosen in (None, found.get("action_repeat")):
        found.pop("action_repeat", None)
    return found


def label(changed: Mapping[str, Any], settings: Iterable[str]) -> str:
    """Changes as one would write them for `sfm fork`: n_step=1 lr_actor=0.001."""
    names = list(settings)
    return " ".join(f"{short(name, names)}={said(value)}" for name, value in changed.items())


def said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def short(name: str, names: Iterable[str]) -> str:
    """The end of a dotted name that no other one has."""
    parts = name.split(".")
    others = [other.split(".") for other in names if other != name]
    for count in range(1, len(parts)):
        if all(other[-count:] != parts[-count:] for other in others):
            return ".".join(parts[-count:])
    return name


def whole_name(name: str, settings: Iterable[str]) -> str:
    """The dotted name that one meant by its end."""
    names = list(settings)
    hits = [n for n in names if n == name] or [n for n in names if n.endswith(f".{name}")]
    if not hits:
        raise unknown("setting", name, names, ("task", "preset", "n_step", "gamma", "learner.kind"))
    if len(hits) > 1:
        raise SfmError(f"setting '{name}' is ambiguous: say {' or '.join(hits)}")
    return hits[0]


def usual_of(name: str) -> Settings | None:
    """The settings of a preset; None if it is not one of ours."""
    return _usual(name) if name in PRESETS else None


@functools.lru_cache(maxsize=1000)
def _translated(text: str) -> Settings:
    """Settings in JSON by the names of today. Many runs of a folder differ in their seed alone."""
    return _plain(from_dict(Config, json.loads(text)))


@functools.cache
def _usual(name: str) -> Settings:
    return _plain(preset(name) if name in PRESETS else Config())


def _plain(config: Config) -> Settings:
    """As JSON gives them back."""
    return dict(flat(json.loads(storage.to_json(to_dict(config)))))
