"""A plan: tasks x presets x changes x demonstrations x seeds, from a TOML file or the command line.

tasks = ["walker_walk", "cheetah_walk"]
presets = ["general"]
seeds = ["0-4"]
steps = 100_000
changes = {base = "", wide = "learner.width=256"}
demos = "demos/{task}/{seed}.npz"

[[jobs]]                      # more of them; what a table does not say is as above
tasks = ["quadruped_run"]
presets = ["sfm-td7-cpu"]
"""

import itertools
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sfm.config import Config, overridden, setting, to_dict
from sfm.errors import SfmError, unknown
from sfm.presets import DEFAULT, preset
from sfm.storage import to_json

FIELDS = ("tasks", "presets", "seeds", "changes", "demos", "demo", "demos_per_seed", "steps")
OWN = ("task", "preset", "seed", "seeds")  # settings that the plan itself decides
PLACES = ("task", "preset", "seed")  # what may stand in braces in `demos` and `demo`

Block = Mapping[str, Any]


class Wish(NamedTuple):
    """One seed of what a plan asks for."""

    task: str
    preset: str
    label: str  # of its changes
    settings: dict[str, Any]
    demos: str | None
    demo: int | None
    seed: int

    @property
    def config(self) -> Config:
        return configured(self.task, self.preset, self.settings, self.seed)


def configured(task: str, name: str, settings: Mapping[str, Any], seed: int, seeds: int = 1) -> Config:
    return overridden(preset(name), {**settings, "task": task, "seed": seed, "seeds": seeds})


def read(path: Path) -> dict[str, Any]:
    """A plan as it is written; its names are checked by `wishes`."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SfmError(f"{path} not found") from error
    except OSError as error:
        raise SfmError(f"could not read {path}: {error.strerror}") from error
    except ValueError as error:  # bad TOML and bad UTF-8
        raise SfmError(f"{path} is not valid TOML: {error}") from error


def wishes(plan: Block) -> list[Wish]:
    """All that a plan asks for, one by one, checked for itself: nothing here looks at files or tasks."""
    common = {name: value for name, value in plan.items() if name != "jobs"}
    tables = plan.get("jobs", [])
    if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
        raise SfmError("jobs must be tables: write [[jobs]] above each of them")
    blocks = [common] if common.get("tasks") or not tables else []
    found = [wish for block in [*blocks, *({**common, **table} for table in tables)] for wish in _of(block)]
    if not found:
        raise SfmError("the plan has no jobs: give tasks and seeds, in a plan or as --tasks and --seeds")
    seen: dict[str, Wish] = {}
    for wish in found:
        source = (wish.demos, wish.demo if wish.demos else wish.demo or 0)
        key = to_json([to_dict(wish.config), source])
        if other := seen.get(key):
            raise SfmError(f"a job is twice in the plan: {told(other)} and {told(wish)} are the same")
        seen[key] = wish
    return found


def told(wish: Wish) -> str:
    """A job in words, for errors."""
    changes = f" with {wish.label}" if wish.label else ""
    return f"{wish.task}, {wish.preset}{changes}, seed {wish.seed}"


def _of(block: Block) -> Iterator[Wish]:
    """The product of a block's lists."""
    for name in block:
        if name not in FIELDS:
            raise unknown("field of a plan", name, (*FIELDS, "jobs"))
    tasks, presets = _words(block, "tasks"), _words(block, "presets", DEFAULT)
    seeds, changes = _seeds(block), _changes(block)
    lists = [_listed(block, "demos"), _listed(block, "demo")]
    per_seed = block.get("demos_per_seed", False)
    for name, given in zip(("demos", "demo"), lists, strict=True):
        if per_seed and len(given) not in (1, len(seeds)):
            raise SfmError(f"demos_per_seed: there are {len(given)} {name} for {len(seeds)} seeds")
    for task, name, (label, settings) in itertools.product(tasks, presets, changes):
        for k, sources in _sources(lists, per_seed, len(seeds)):
            fill = {"task": task, "preset": name, "seed": seeds[k]}
            demos, demo = (_filled(source, fill) for source in sources)
            wish = Wish(task, name, label, settings, demos, _number(demo), seeds[k])
            _ = wish.config  # checks the preset and the settings
            yield wish


def _sources(lists: list[list[Any]], per_seed: bool, seeds: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Places in the list of seeds, with the demonstrations that each is given: all, or those of its place."""
    if per_seed:
        return ((k, tuple(given[k % len(given)] for given in lists)) for k in range(seeds))
    return ((k, pair) for pair in itertools.product(*lists) for k in range(seeds))


def _listed(block: Block, name: str, default: Any = None) -> list[Any]:
    value = block.get(name, default)
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _words(block: Block, name: str, default: str | None = None) -> list[str]:
    words = _listed(block, name, default or [])
    if not all(isinstance(word, str) for word in words):
        raise SfmError(f"{name} must be words, not {words!r}")
    return words


def _seeds(block: Block) -> list[int]:
    """Numbers, and ranges with both their ends: [3, "10-14"]."""
    seeds: list[int] = []
    for item in _listed(block, "seeds", 0):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", str(item))
        if match is None or isinstance(item, bool):
            raise SfmError(f"seeds must be numbers or ranges like '0-4', not {item!r}")
        seeds += range(int(match[1]), int(match[2] or match[1]) + 1)
    return seeds


def _changes(block: Block) -> list[tuple[str, dict[str, Any]]]:
    """A name and the settings of each variant, with the steps of the block."""
    given = block.get("changes", "")
    named = given.items() if isinstance(given, dict) else [(str(s), s) for s in _listed(block, "changes", "")]
    steps = {} if block.get("steps") is None else {"schedule.steps": block["steps"]}
    return [(name, steps | _settings(text)) for name, text in named]


def _settings(text: Any) -> dict[str, Any]:
    """'n_step=1 learner.width=64' by the names of settings."""
    if not isinstance(text, str):
        raise SfmError(f"changes must be words like 'n_step=1 learner.width=64', not {text!r}")
    try:
        settings = dict(map(setting, shlex.split(text)))
    except ValueError as error:  # a quote that is not closed
        raise SfmError(f"changes {text!r}: {error}") from error
    for name in settings:
        if name in OWN:
            raise SfmError(f"changes cannot have {name}: the plan's lists say which tasks, presets and seeds")
    return settings


def _filled(pattern: Any, values: Mapping[str, Any]) -> Any:
    """'demos/{task}/{seed}.npz' -> 'demos/walker_walk/3.npz'."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise unknown("name in braces", match[1], PLACES)
        return str(values[match[1]])

    return re.sub(r"\{(\w*)\}", value, pattern) if isinstance(pattern, str) else pattern


def _number(demo: Any) -> int | None:
    try:
        return None if demo is None else int(demo)
    except (TypeError, ValueError) as error:
        raise SfmError(f"demo must be a number, counted from 0, not {demo!r}") from error
