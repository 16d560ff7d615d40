"""How much a file may ask for: refused before anything is allocated, since files come from strangers."""

import os

from sfm.errors import SfmError

MAX_DEMOS = 100_000
# Recorded motion compresses 1.1 to 2 times, padding more; only a bomb inflates small files a hundredfold.
_MAX_RATIO = 200
_ALWAYS_FINE = 64 << 20


def check_inflation(name: str, declared: int, stored: int) -> None:
    """Refuses `stored` bytes on disk that claim to hold `declared` bytes, far more than data ever does."""
    if declared > max(_ALWAYS_FINE, _MAX_RATIO * stored):
        raise SfmError(f"{name} is refused: {stored:,} bytes that claim to hold {declared:,} bytes")
    check_memory(name, declared)


def check_memory(name: str, needed: int) -> None:
    """Refuses what cannot fit into this machine."""
    try:
        present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a Unix
        present = 64 << 30
    if needed > present:
        raise SfmError(
            f"{name} needs {needed / 2**30:,.1f} GB of memory; this machine has {present / 2**30:,.1f}"
        )
