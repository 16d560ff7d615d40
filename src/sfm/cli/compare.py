"""`sfm compare`: runs side by side."""

from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from sfm.cli.parse import command


@command
def main(
    runs: Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUNS")],
    by: str | None = None,
    x: Literal["steps", "updates", "seconds"] = "steps",
    value: Literal["return", "score", "likeness"] = "return",
    policy: Literal["kept", "current"] = "kept",
    out: Path = Path("compare"),
) -> None:
    """Compare groups of runs: a table of what they had at the end, and learning curves as PNG and SVG.

    Curves are means over seeds, with their 95% bootstrap interval; of one seed there is none.

    Args:
        runs: Runs or folders of runs, each of which is a group; of a single folder, runs with equal settings.
        by: Group all runs by a setting instead: preset, method (preset and changes), gamma, learner.kind, ...
        x: What curves are drawn against.
        value: What curves show.
        policy: Whose curves: the policy that is kept, or the newest.
        out: The name of the figures, without its .png and .svg.
    """
    from sfm.errors import SfmError
    from sfm.report import compare, finals

    if not runs:
        raise SfmError("compare what? Give runs or folders of runs: sfm compare runs/A runs/B")
    found = compare.comparison(compare.gather(runs, by), x, value, policy)
    stem = out.with_suffix("") if out.suffix in (".png", ".svg") else out
    paths = compare.draw(found, x, value, stem)
    for task, groups in found.finals.items():
        print(finals.text(task, groups), end="\n\n")
    for note in found.notes:
        print(f"note: {note}")
    print("curves  " + "  ".join(map(str, paths)))
