"""How fast training is. Run it on an idle machine: `make bench`, or `make bench-check` to compare with
baseline.json. docs/speed.md says what each figure means."""

import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.check import BASELINE, bounds, failures, is_ratio
from benchmarks.measure import Row, Settings, machine
from sfm import storage
from sfm.errors import SfmError
from sfm.presets import DEFAULT, PRESETS

__all__ = ["main"]

Part = Literal[
    "updates",
    "others",
    "flops",
    "environments",
    "rounds",
    "seeds",
    "dispatch",
    "memory",
    "startup",
    "acting",
    "starting",
    "expert",
    "growth",
]
MODULES: dict[Part, str] = {
    "updates": "speed",
    "others": "speed",
    "flops": "flops",
    "environments": "environments",
    "rounds": "rounds",
    "seeds": "speed",
    "dispatch": "speed",
    "memory": "memory",
    "startup": "startup",
    "acting": "acting",
    "starting": "acting",
    "expert": "expert",
    "growth": "growth",
}
ASKED: tuple[Part, ...] = ("growth",)  # run only where they are asked for
USUAL = tuple(part for part in MODULES if part not in ASKED)


@dataclass(frozen=True)
class Options:
    """How fast training is, as ratios measured in one run, with absolute figures beside them.

    - updates: updates/s, and their FLOP/s over the machine's GEMM rate
    - others: updates/s of the presets that are not SFM's
    - flops: the least FLOPs of an update over those executed
    - environments: steps/s of 8 environments over a dm_control loop and over bare mj_step
    - rounds: training rounds with 4 and 8 environments over those with 1, at equal updates
    - seeds: five seeds at once over five times one
    - dispatch: tiny networks under scan, over the same called one by one
    - memory: bytes per transition of replay
    - startup: seconds to the first update, cold and warm
    - acting: one prediction of a trained policy over a bare NumPy network of the same sizes
    - starting: from `import sfm` to a policy's first action over the import of NumPy
    - expert: what recomputing the expert's features seldom saves and loses
    - growth: the time of an update over sizes, and its exponent; only with --only growth

    Meant to take less than 8 minutes on two idle cores. docs/speed.md tells more.
    """

    only: tuple[Part, ...] = USUAL
    """Parts to run."""
    presets: tuple[str, ...] = ()
    """Whose updates to measure; SFM's if none are given, with --quick those for CPUs."""
    quick: bool = False
    """A rough look: less time for each figure, fewer presets and tasks."""
    json: Path = Path("runs/bench.json")
    """Where figures and the machine's description go."""
    check: bool = False
    """Compare with the baseline; exit status 1 if a ratio is out of its bounds."""
    baseline: Path = BASELINE
    """Ratios and their tolerances; benchmarks/check.py tells the format."""

    @property
    def settings(self) -> Settings:
        ending = "-cpu" if self.quick else ""
        sfm = (
            DEFAULT,
            "fast",
            *(name for name in PRESETS if name.startswith("sfm-") and name.endswith(ending)),
        )
        return Settings(self.presets or sfm, 0.3 if self.quick else 2.0, self.quick)

    @property
    def whole(self) -> bool:
        """Whether all that a baseline may name is measured."""
        return set(self.only) >= set(USUAL) and not self.presets and not self.quick


def run(options: Options) -> dict[str, float]:
    """Measure and print part by part; the figures by part/subject/figure, which are also in the JSON file."""
    here, figures = machine(), {}
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    if here["load"] > 0.5:
        print(f"note: this machine was not idle (load {here['load']}); do not trust the figures", flush=True)
    for name in options.only:
        begin = time.perf_counter()
        part = getattr(importlib.import_module(f"benchmarks.{MODULES[name]}"), name)
        for subject, row in shown(name, part, options.settings):
            figures |= {f"{name}/{subject}/{figure}": value for figure, value in row.items()}
            storage.write_json(options.json, {"machine": here, "quick": options.quick, "figures": figures})
        print(f"({time.perf_counter() - begin:.0f} s)", flush=True)
    print(f"\nwritten to {options.json}")
    return figures


def shown(name: str, part: Callable[[Settings], Iterator[Row]], settings: Settings) -> Iterator[Row]:
    """The rows of a part, each printed when it is there."""
    print(f"\n{name}: {part.__doc__}", flush=True)
    header = ""
    for subject, figures in part(settings):
        if not header:
            header = f"{'':20}" + "".join(f"  {figure}" for figure in figures)
            print(header)
        cells = (f"  {rounded(value):>{len(figure)}}" for figure, value in figures.items())
        print(f"{subject:20}" + "".join(cells), flush=True)
        yield subject, figures


def rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 a ratio out of its bounds or an error that one line explains, 2 bad usage."""
    import tyro

    options = tyro.cli(Options, prog="benchmarks.suite", args=argv, config=(tyro.conf.FlagCreatePairsOff,))
    try:
        expected = bounds(options.baseline) if options.check else {}
        figures = run(options)
    except SfmError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not options.check:
        return 0
    ratios = {name: value for name, value in figures.items() if is_ratio(name)}
    wrong = failures(expected, ratios, whole=options.whole)
    for line in wrong:
        print(f"FAILED {line}", file=sys.stderr)
    compared = len(expected.keys() & ratios.keys())
    print(f"{compared} of {len(expected)} ratios compared with {options.baseline.name}, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
