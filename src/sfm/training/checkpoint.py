"""A folder of checkpoints that survives a kill at any moment, and the way from a pytree to named arrays."""

import contextlib
import importlib.metadata
import re
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sfm import storage
from sfm.errors import SfmError

FORMAT_VERSION = 6  # raise it whenever an older checkpoint can no longer be resumed

T = TypeVar("T")
Arrays = dict[str, np.ndarray]


class Checkpoints:
    """The newest `keep` checkpoints of one run, one file each: `step_000012000.safetensors`."""

    def __init__(self, folder: Path, keep: int = 2):
        if keep < 1:
            raise SfmError(f"keep must be at least 1, not {keep}")
        self.folder, self.keep = Path(folder), keep

    def steps(self) -> list[int]:
        """The steps that have a file, newest first; the file may be damaged."""
        found = [re.fullmatch(r"step_(\d{9,})\.safetensors", p.name) for p in self.folder.glob("step_*")]
        return sorted((int(name[1]) for name in found if name), reverse=True)

    def save(self, step: int, arrays: Arrays, meta: dict[str, Any]) -> None:
        """Writes a checkpoint; only then removes the older ones and what a killed run has left behind."""
        stamp = {"format": FORMAT_VERSION, "sfm": _version()}
        storage.write_arrays(self._path(step), arrays, {**meta, **stamp})
        # A later step is a damaged file that this run went back from: kept, it would displace an intact one.
        kept = [other for other in self.steps() if other <= step][: self.keep]
        stale = [self._path(other) for other in self.steps() if other not in kept]
        for path in (*stale, *self.folder.glob(f"{storage.TEMPORARY}*")):
            with contextlib.suppress(OSError):  # the new checkpoint is safe; garbage is not worth an error
                path.unlink()

    def load(self) -> tuple[int, Arrays, dict[str, Any], list[str]]:
        """Returns step, arrays, meta of the newest intact checkpoint, and a warning per newer damaged one."""
        warnings: list[str] = []
        for step in self.steps():
            try:
                arrays, meta = storage.read_arrays(self._path(step))
            except SfmError as error:
                warnings.append(f"{error}; going back to an earlier checkpoint")
                continue
            if meta.get("format") != FORMAT_VERSION:
                raise SfmError(
                    f"checkpoint was written by another version (format {meta.get('format')}, this is "
                    f"{FORMAT_VERSION}): use sfm {meta.get('sfm', 'of that time')} or start a new run"
                )
            return step, arrays, meta, warnings
        if warnings:
            raise SfmError(f"no intact checkpoint in {self.folder}: all {len(warnings)} are damaged")
        raise SfmError(f"no checkpoint in {self.folder}")

    def _path(self, step: int) -> Path:
        return self.folder / f"step_{step:09d}.safetensors"


def _version() -> str:
    try:
        return importlib.metadata.version("successor-feature-matching")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def flatten(tree: Any) -> Arrays:
    """Names the leaves of a pytree by their path, `actor/layers/0/weight`; typed keys become their data."""
    import jax

    names, leaves, _ = _named_leaves(tree)
    data = jax.device_get([jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves])
    arrays = {name: np.asarray(leaf) for name, leaf in zip(names, data, strict=True)}
    for name, array in arrays.items():
        if array.dtype == object:
            raise TypeError(f"leaf '{name}' is no array but {array!r}: take it out before saving")
    return arrays


def unflatten(like: T, arrays: Arrays) -> T:
    """The inverse of `flatten`: a pytree built like `like`, whose arrays may be `ShapeDtypeStruct`s."""
    import jax

    names, leaves, treedef = _named_leaves(like)
    for problem, odd in (("lacks", set(names) - set(arrays)), ("has unknown", set(arrays) - set(names))):
        if odd:
            raise SfmError(f"checkpoint {problem} {_some(odd)}: it belongs to another configuration")
    return jax.tree_util.tree_unflatten(
        treedef, [_restore(name, leaf, arrays[name]) for name, leaf in zip(names, leaves, strict=True)]
    )


def flatten_names(tree: Any) -> tuple[list[str], Any]:
    """The names that `flatten` gives the leaves, and the structure to put leaves back into."""
    names, _, treedef = _named_leaves(tree)
    return names, treedef


def _restore(name: str, like: Any, array: np.ndarray) -> Any:
    """One leaf of the kind of `like`: JAX array, typed key, NumPy array or Python number."""
    import jax
    import jax.numpy as jnp

    expected = jax.eval_shape(jax.random.key_data, like) if _is_key(like) else like
    if not hasattr(expected, "dtype"):
        expected = np.asarray(expected)
    if array.shape != expected.shape or array.dtype != expected.dtype:
        raise SfmError(
            f"checkpoint has '{name}' as {array.dtype}{list(array.shape)}, expected "
            f"{expected.dtype}{list(expected.shape)}: it belongs to another configuration"
        )
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.array(array), impl=jax.random.key_impl(jnp.empty((), like.dtype)))
    if isinstance(like, (np.ndarray, np.generic)):
        return array if isinstance(like, np.ndarray) else array[()]
    if not hasattr(like, "dtype"):
        return array.item()
    return jnp.array(array)  # a copy: memory shared with NumPy could not be donated


def _named_leaves(tree: Any) -> tuple[list[str], list[Any], Any]:
    import jax

    paths, treedef = jax.tree_util.tree_flatten_with_path(tree)
    names = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in paths]
    if len(set(names)) < len(names):
        raise ValueError(f"two leaves share a name: {_some({n for n in names if names.count(n) > 1})}")
    return names, [leaf for _, leaf in paths], treedef


def _is_key(leaf: Any) -> bool:
    import jax
    import jax.numpy as jnp

    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _some(names: set[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"'{name}'" for name in sorted(names)[:3]) + more
