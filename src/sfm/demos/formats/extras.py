"""Libraries that only some formats need."""

import importlib
from types import ModuleType

from sfm.errors import SfmError


def need(module: str, extra: str) -> ModuleType:
    """Imports a library of the optional dependencies called `extra`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        install = f"pip install 'successor-feature-matching[{extra}]'"
        raise SfmError(f"{extra} files need {module.partition('.')[0]}: {install}") from error
