"""Clips and mappings that come with the package, by name."""

from pathlib import Path

CLIPS = Path(__file__).parent / "clips"
MAPPINGS = Path(__file__).parent / "mappings"


def clip(name: str | Path) -> Path:
    """The file of a bundled clip, where there is no such file here."""
    return _found(Path(name), CLIPS / f"{name}.csv")


def mapping(name: str | Path) -> Path:
    """The file of a bundled mapping, where there is no such file here."""
    return _found(Path(name), MAPPINGS / f"{name}.toml")


def names(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.iterdir() if file.suffix in (".csv", ".toml"))


def _found(path: Path, ours: Path) -> Path:
    return ours if len(path.parts) == 1 and not path.exists() and ours.is_file() else path
