"""MJCF files in, whole: with the files that they include and the meshes beside them."""

import importlib
import io
import os
import warnings
from pathlib import Path
from typing import Any

from sfm.errors import SfmError

mujoco: Any = importlib.import_module("mujoco")  # its functions are unknown to type checkers


def read(path: str | Path) -> Any:
    """The mujoco.MjSpec of an MJCF file, or of the .zip that `pack` makes; it needs no other file now."""
    path = Path(path)
    if not path.is_file():
        raise SfmError(f"no MJCF file {path}: give the path of a robot's .xml")
    try:
        if path.suffix == ".zip":
            return mujoco.MjSpec.from_zip(io.BytesIO(path.read_bytes()))
        spec = mujoco.MjSpec.from_file(str(path))
        _take_in_assets(spec)
        return spec
    except (ValueError, OSError, RuntimeError) as error:
        raise _broken(path, error) from error


def compiled(spec: Any, path: str | Path) -> Any:
    """The mujoco.MjModel of a spec; `path` names it in errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of attributes that MuJoCo is about to rename
            return spec.compile()
    except (ValueError, RuntimeError) as error:
        raise _broken(path, error) from error


def pack(path: str | Path) -> bytes:
    """An MJCF file with all that it needs, as a zip that `read` reads anywhere."""
    spec, out = read(path), io.BytesIO()
    compiled(spec, path)
    spec.modelname = "robot"  # by which the file in the zip is called
    spec.to_zip(out)
    return out.getvalue()


def _take_in_assets(spec: Any) -> None:
    """Read what meshes, textures and height fields lie in other files; the spec then finds it in itself."""
    assets: dict[str, bytes] = {}

    def taken(folder: str, file: str) -> str:
        whole = os.path.join(spec.modelfiledir, folder, file)  # a name with a path of its own keeps that
        new = f"{len(assets)}-{os.path.basename(file)}"
        assets[new] = Path(whole).read_bytes()
        return new

    meshes, textures = spec.meshdir, spec.texturedir or spec.meshdir
    for folder, parts in ((meshes, (*spec.meshes, *spec.hfields, *spec.skins)), (textures, spec.textures)):
        for part in parts:
            if part.file:
                part.name = part.name or Path(part.file).stem
                part.file = taken(folder, part.file)
    for texture in spec.textures:
        texture.cubefiles = [taken(textures, file) if file else "" for file in texture.cubefiles]
    spec.meshdir = spec.texturedir = ""
    spec.assets = assets


def _broken(path: str | Path, error: Exception) -> SfmError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return SfmError(f"MuJoCo cannot load {path}: {'; '.join(lines) or type(error).__name__}")
