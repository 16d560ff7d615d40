"""How JAX is set up for a run: threads, and where compiled code is kept."""

import contextlib
import os
from pathlib import Path

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
