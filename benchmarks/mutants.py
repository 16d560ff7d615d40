"""Do the tests notice a wrong line? Changes one line at a time and runs the tests.

    python -m benchmarks.mutants            # every mutant: first the tests near it, then, if it lives, all
    python -m benchmarks.mutants --near     # only the tests near it: a few seconds each
    python -m benchmarks.mutants --only td7 # those whose name or file contains a word

Each mutant (mutant_list/) is a line of `src/sfm` with a plausible mistake, of losses, estimators and
schedules. The change is made in a copy. It ends with the survivors; the exit status is 1 if they are more
than one in twenty.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutant_list import MUTANTS

ROOT = Path(__file__).parent.parent
TIME_LIMIT = 1800  # seconds of one run of tests; a mutant that hangs is killed, too


class Mutant(NamedTuple):
    file: str
    before: str
    after: str
    near: str  # test files, which know most of that line


@dataclass(frozen=True)
class Options:
    """Which mutants, and how many tests."""

    only: str = ""
    near: bool = False


def changed(source: str, mutant: Mutant) -> str:
    """The file's text with the mistake, which must have one place."""
    count = source.count(mutant.before)
    if count != 1:
        raise SystemExit(f"{mutant.file} has {count} places with {mutant.before!r}: mend the list of mutants")
    return source.replace(mutant.before, mutant.after)


def survives(mutant: Mutant, copy: Path, tests: list[str]) -> bool:
    path = copy / "src" / "sfm" / mutant.file
    source = path.read_text()
    path.write_text(changed(source, mutant))
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["SFM_CACHE"] = str(copy.parent / "cache")  # most of what is compiled is the same each time
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=TIME_LIMIT)
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_text(source)


def main(options: Options) -> int:
    chosen = {
        name: m
        for name, m in ((name, Mutant(*fields)) for name, fields in MUTANTS.items())
        if options.only in name or options.only in m.file
    }
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "sfm"
        ignored = shutil.ignore_patterns(".git", ".venv", "runs", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignored)
        for number, (name, mutant) in enumerate(chosen.items(), 1):
            begin = time.monotonic()
            lives = survives(mutant, copy, mutant.near.split())
            if lives and not options.near:
                lives = survives(mutant, copy, ["tests", "-n", "2", "--dist", "loadscope"])
            survivors += [name] * lives
            told = "SURVIVES" if lives else "killed"
            print(
                f"{number:3} of {len(chosen)}  {told:8}  {time.monotonic() - begin:5.0f} s  {name}",
                flush=True,
            )
    print(
        f"{len(chosen) - len(survivors)} of {len(chosen)} killed; survivors: {', '.join(survivors) or 'none'}"
    )
    return int(len(survivors) > len(chosen) / 20)


if __name__ == "__main__":
    import tyro

    sys.exit(main(tyro.cli(Options)))
