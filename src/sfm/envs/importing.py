"""Modules of users, and environment classes by their name `module:Class`."""

import importlib
import os
import sys
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

import gymnasium

from sfm.errors import SfmError


def imported(name: str) -> ModuleType:
    """The module, from what is installed or from the working directory, as with `python -m`."""
    if not all(name.split(".")):
        raise SfmError(
            f"'{name}' is no module: write module:Id-v0 or module:Class, the module as in an import"
        )
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)  # last: it must not hide what is installed
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if name == error.name or name.startswith(f"{error.name}."):
            raise SfmError(
                f"there is no module '{name}' in {here} or installed: go to the folder that it lies in, or "
                "add that to PYTHONPATH"
            ) from error
        raise SfmError(f"the module '{name}' needs '{error.name}', which is not installed") from error
    except (Exception, SystemExit) as error:
        raise SfmError(f"importing the module '{name}' failed: {one_line(error)}") from error


def offered(module: ModuleType) -> list[str]:
    """The environments of a module by name: those that it has registered, and its classes."""
    own = f"{module.__name__}:", f"{module.__name__}."
    registered = [id for id, spec in gymnasium.registry.items() if str(spec.entry_point).startswith(own)]
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    kinds = [kind for kind in kinds if issubclass(kind, gymnasium.Env) and kind.__module__ == module.__name__]
    kinds = [kind for kind in kinds if not issubclass(kind, gymnasium.Wrapper)]
    return [*registered, *{kind.__name__ for kind in kinds}]


def class_of(entry: Any, kind: type) -> type:
    """The class behind an entry point, which a file may name: only a `kind` of environment is called."""
    if isinstance(entry, str):
        module, _, name = entry.partition(":")
        entry = getattr(imported(module), name, None)
    if not (isinstance(entry, type) and issubclass(entry, kind)):
        raise SfmError(f"{entry!r} is no class of {kind.__name__}s")
    return entry


def location(kind: Any) -> str | None:
    """`module:Class` if another process finds it there; None for what lies in a script or in a function."""
    where = f"{getattr(kind, '__module__', '')}:{getattr(kind, '__qualname__', '')}"
    try:
        found = resolve_name(where)
    except (ValueError, ImportError, AttributeError):
        return None
    return where if found is kind and not where.startswith("__main__:") else None


def one_line(error: BaseException) -> str:
    """What went wrong, without line breaks."""
    return " ".join(f"{type(error).__name__}: {error}".split())
