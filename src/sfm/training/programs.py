"""Compiled functions whose traced program is kept on disk, so that another process need not trace it again.

JAX's persistent cache saves compiling but not tracing, which takes as long on the second start as on the
first. Programs lie beside that cache, under a digest of everything that decides them.
"""

import contextlib
import hashlib
import importlib.metadata
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export

from sfm import storage
from sfm.errors import SfmError

DECIDERS = ("jax", "jaxlib", "equinox", "optax", "flatbuffers")


def compiled(function: Callable[..., tuple[Any, dict[str, Any]]], args: tuple[Any, ...], recipe: str) -> Any:
    """`function(state, ...) -> (state, metrics)` compiled for `args`, which may be shapes; donates `state`.

    `recipe` says what else decides the program besides the source code, versions and shapes.
    """
    leaves, tree = jax.tree.flatten(args)
    state = jax.tree.structure(args[0])
    path = _path(leaves, recipe)
    found = _read(path) if path else None
    if found is None:
        names: list[str] = []

        def flat(*leaves: Any) -> list[Any]:
            after, metrics = function(*jax.tree.unflatten(tree, leaves))
            names[:] = sorted(metrics)
            return [*jax.tree.leaves(after), *(metrics[name] for name in names)]

        found = export.export(jax.jit(flat))(*leaves), names
        if path:
            _write(path, *found)
    program, names = found
    donated = tuple(range(state.num_leaves))
    level = "xla_backend_optimization_level"  # 3, the default, compiles longer and runs no faster
    options: Any = {} if level in os.environ.get("XLA_FLAGS", "") else {level: 2}
    run = jax.jit(program.call, donate_argnums=donated).lower(*leaves).compile(compiler_options=options)

    def call(*args: Any) -> tuple[Any, dict[str, Any]]:
        out = run(*jax.tree.leaves(args))
        after = jax.tree.unflatten(state, out[: state.num_leaves])
        return after, dict(zip(names, out[state.num_leaves :], strict=True))

    return call


def _path(leaves: list[Any], recipe: str) -> Path | None:
    """Where the program is kept; None without a compilation cache."""
    folder = jax.config.values["jax_compilation_cache_dir"]
    if not folder:
        return None
    code = hashlib.sha256()
    for source in sorted(Path(__file__).parent.parent.rglob("*.py")):
        code.update(source.read_bytes())
    shapes = [(leaf.shape, str(leaf.dtype)) for leaf in leaves]
    versions = [importlib.metadata.version(name) for name in DECIDERS]
    decided = (recipe, shapes, versions, jax.default_backend(), code.hexdigest())
    return Path(folder) / f"program-{hashlib.sha256(repr(decided).encode()).hexdigest()}.safetensors"


def _read(path: Path) -> tuple[export.Exported, list[str]] | None:
    try:
        arrays, meta = storage.read_arrays(path)
        return export.deserialize(bytearray(arrays["program"].tobytes())), meta["metrics"]
    except (SfmError, OSError):  # not there, or damaged: it is made anew
        return None


def _write(path: Path, program: export.Exported, names: list[str]) -> None:
    data = {"program": np.frombuffer(program.serialize(), np.uint8)}
    with contextlib.suppress(SfmError, OSError):  # a full disk must not end a run that does not need it
        storage.write_arrays(path, data, {"metrics": names})
