"""How JAX is set up for a run: threads, and where compiled code is kept."""

import contextlib
import os
from pathlib import Path
from typing import Any

from sfm import storage
from sfm.config import Config

ONE_THREAD = 64 * 128**2  # batch x width^2 of the sfm-td3-cpu preset: 1.17 times as fast as with two threads


def set_up(config: Config) -> None:
    """To be called before JAX first computes."""
    choose_threads(config)
    keep_compiled_code()


def choose_threads(config: Config) -> None:
    """Small matrix products lose more to a second thread than they gain, and evaluation has use for the core.

    NPROC is how many threads XLA starts on a CPU; it is read when JAX first computes, and left alone if set.
    """
    products = config.seeds * config.schedule.batch * config.learner.width**2
    if products <= ONE_THREAD:
        os.environ.setdefault("NPROC", "1")


def keep_compiled_code() -> None:
    """JAX's persistent compilation cache: the second start is fast."""
    import jax

    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sfm" / "jax"
    folder = Path(os.environ.get("SFM_CACHE", default))
    with contextlib.suppress(OSError):  # without a cache it is only slower
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            jax.config.update("jax_compilation_cache_dir", str(folder))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
            _keep_whole_entries()


def _keep_whole_entries() -> None:
    """JAX writes an entry in place and never again: readers meanwhile, or ever after a kill, have a part.

    JAX takes no cache of one's own, so that this replaces a method of its class.
    """
    from jax._src.lru_cache import LRUCache

    def put(self: Any, key: str, value: bytes) -> None:
        storage.write_bytes(self.path / f"{key}-cache", value)

    if os.environ.get("JAX_COMPILATION_CACHE_MAX_SIZE", "-1") == "-1":  # else JAX needs dates beside entries
        LRUCache.put = put
