"""docs/options.md: every option of a run, from the sentences in `sfm.config`, and what presets change.

python -m benchmarks.options     # writes it anew
"""

import dataclasses
import textwrap
import typing
from pathlib import Path
from typing import Any, Literal

from benchmarks.tables import grid
from sfm import storage
from sfm.config import (
    ActorCriticConfig,
    Config,
    CostConfig,
    FeatureConfig,
    InverseConfig,
    LearnerConfig,
    ObjectiveConfig,
    RobotConfig,
    ScheduleConfig,
    flat,
    to_dict,
)
from sfm.config.learners import DeterministicConfig
from sfm.config.sentences import sentences
from sfm.presets import PRESETS

__all__ = ["TABLES", "changed", "page"]

PAGE = Path(__file__).parents[1] / "docs" / "options.md"
INTRODUCTION = """\
# Options

Made by `python -m benchmarks.options` from the sentences in `src/sfm/config`; do not edit.

On the command line an option is `--learner.lr-actor 1e-3`, in the library `learner__lr_actor=1e-3` or,
where only one option ends so, `lr_actor=1e-3`; in `sfm fork` it is `learner.lr_actor=1e-3`. Defaults are
those of the classes; a preset changes some, and `sfm train --preset NAME --help` shows what it has."""
TABLES: list[tuple[str, str, tuple[type, ...]]] = [
    ("A run", "", (Config,)),
    ("A robot's MJCF file", "robot.", (RobotConfig,)),
    ("When", "schedule.", (ScheduleConfig,)),
    ("How to learn", "learner.", (ActorCriticConfig, DeterministicConfig, *typing.get_args(LearnerConfig))),
    ("What to learn", "objective.", typing.get_args(ObjectiveConfig)),
    ("Base features, of `sfm`", "objective.features.", (FeatureConfig,)),
    ("The cost, of `discriminator` and `opolo`", "objective.cost.", (CostConfig,)),
    ("The inverse model, of `opolo` and `bco`", "objective.inverse.", (InverseConfig,)),
]


def page() -> str:
    parts = [INTRODUCTION]
    for title, place, kinds in TABLES:
        parts.append(f"## {title}")
        for kind in kinds:
            named = [f"### `{kind.kind}`"] if hasattr(kind, "kind") else []  # pyright: ignore
            parts += [*named, str(kind.__doc__), *table(kind, place)]
    parts += ["## What presets change", *(preset(name) for name in PRESETS)]
    return "\n\n".join(parts) + "\n"


def table(kind: type, place: str) -> list[str]:
    """The fields that a class itself declares, if any, but for parts, which have tables of their own."""
    own = [f for f in dataclasses.fields(kind) if f.name in kind.__annotations__]
    plain = [f for f in own if f.default is not dataclasses.MISSING]
    rows = [(f"`{place}{f.name}`", _type(f.type), _shown(f.default), sentences(kind)[f.name]) for f in plain]
    return [grid(("option", "is", "default", "what it does"), rows)] if rows else []


def preset(name: str) -> str:
    config = PRESETS[name]
    words = " ".join(f"{k}={_word(v)}" for k, v in changed(config).items())
    told = f"- `{name}`, `{config.learner.kind}` and `{config.objective.kind}`: {words or 'nothing'}"
    return textwrap.fill(told, 100, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def changed(config: Config) -> dict[str, Any]:
    """The options in which it differs from what its classes have by default."""
    usual = Config(learner=type(config.learner)(), objective=type(config.objective)())
    defaults = dict(flat(to_dict(usual)))
    return {k: v for k, v in flat(to_dict(config)) if v != defaults[k]}


def _type(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in typing.get_args(kind))
    (limit,) = getattr(kind, "__metadata__", (None,))
    plain = typing.get_args(kind)[0] if limit else kind
    words = str(getattr(plain, "__name__", plain)).replace(" | None", " or none")
    return f"{words}, must {limit.words}" if limit else words


def _shown(value: Any) -> str:
    return f"`{_word(value)}`" if value != "" else ""


def _word(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    storage.write_bytes(PAGE, page().encode())
    print(PAGE)
