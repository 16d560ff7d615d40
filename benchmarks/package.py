"""The package as others get it: a wheel and an sdist, each installed into an empty environment and used.

    python -m benchmarks.package [--python python3.12 ...] [--keep FOLDER]

A build in an environment of its own; then, for each Python and each of the two files, a new environment in
which nothing else is installed, far from the source: a bundled expert acts, and a run trains for a few steps.
"""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
USE = """
import sys, sfm, numpy as np
assert 'site-packages' in sfm.__file__, sfm.__file__
assert sfm.load_policy('walker_walk').predict(np.zeros(24))[0].shape == (6,)
assert 'jax' not in sys.modules
assert len(sfm.load_demos('walker_walk').length) >= 1
print(sfm.__version__, 'on Python', sys.version.split()[0])
"""
STEPS = "--steps 2000 --schedule.envs 1 --schedule.random-steps 1000 --schedule.eval-episodes 1"
TRAIN = f"train walker_walk {STEPS} --no-video --run run".split()


def run(*words: object, cwd: Path) -> str:
    done = subprocess.run([str(w) for w in words], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout.strip()


def environment(python: str, folder: Path) -> Path:
    """A new environment's bin folder."""
    run(python, "-m", "venv", folder, cwd=ROOT)
    return folder / "bin"


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    tools = environment(sys.executable, folder / "tools")
    run(tools / "pip", "install", "--quiet", "build", cwd=folder)
    run(tools / "python", "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    (wheel,), (sdist,) = (list((folder / "dist").glob(kind)) for kind in ("*.whl", "*.tar.gz"))
    return wheel, sdist


def lacking(wheel: Path) -> list[str]:
    """Files of the source that git knows and the wheel has not."""
    known = run("git", "ls-files", "src/sfm", cwd=ROOT).splitlines()
    inside = set(zipfile.ZipFile(wheel).namelist())
    return [name for name in known if name.removeprefix("src/") not in inside]


def used(package: Path, python: str, folder: Path) -> None:
    """Install it into an empty environment and use it; ends the process if anything fails."""
    folder.mkdir()
    tools = environment(python, folder / "venv")
    limits = "--constraint", ROOT / "constraints.txt"
    run(tools / "pip", "install", "--quiet", "--no-compile", *limits, package, cwd=folder)
    print(f"{package.name}: {run(tools / 'python', '-c', USE, cwd=folder)}", flush=True)
    print("  " + run(tools / "sfm", *TRAIN, cwd=folder).splitlines()[-1], flush=True)
    told = run(tools / "sfm", "export", "run", "--to", "policy.npz", cwd=folder)
    print(f"  {told}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--keep", type=Path, help="build here, and leave the files")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        packages = built((args.keep or folder).absolute())
        if missing := lacking(packages[0]):
            sys.exit(f"the wheel lacks {', '.join(missing)}")
        for i, python in enumerate(args.python):
            for package in packages if i == 0 else packages[:1]:
                used(package, python, folder / f"{i}-{package.suffix[1:]}")


if __name__ == "__main__":
    main()
