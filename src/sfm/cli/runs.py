"""`sfm runs`: the runs below a folder, as a table."""

import collections
import shutil
import sys
from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import command


@command
def main(folder: Positional[Path] = Path("runs"), json: bool = False, sort: str = "run") -> None:
    """List the runs in a folder: their settings, their state, and what they had at their last evaluation.

    Args:
        folder: A folder of runs, however deep, or one run.
        json: Print one JSON object per run, with the return of each seed and what is wrong, if anything.
        sort: Sort by this column; with a - before it, downwards, as in --sort=-return.
    """
    from sfm import storage
    from sfm.report import records, table

    rows = table.ordered([table.row(record) for record in records.read_all([folder])], sort)
    if json:
        print("\n".join(storage.to_json(row) for row in rows))
        return
    wide = 10_000 if not sys.stdout.isatty() else shutil.get_terminal_size().columns
    print(table.text(rows, wide))
    counts = collections.Counter(row["state"] for row in rows)
    print(f"{len(rows)} run{'s' * (len(rows) > 1)}: " + ", ".join(f"{n} {s}" for s, n in counts.items()))
    for row in rows:
        if row["problem"]:
            print(f"{row['state']}: {row['run']}: {row['problem']}")
