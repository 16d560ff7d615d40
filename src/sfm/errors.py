"""The one error type that users see: a sentence that says what is wrong and what to do."""

import difflib
from collections.abc import Iterable


class SfmError(Exception):
    """A mistake in the input or the surroundings; shown as one line, without a traceback."""


def unknown(kind: str, name: str, known: Iterable[str], shown: Iterable[str] = ()) -> SfmError:
    """An error for a name that is not among the known ones; it suggests the nearest, or shows some."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(shown or names) or 'none'}."
    return SfmError(f"unknown {kind} '{name}': {hint}")
