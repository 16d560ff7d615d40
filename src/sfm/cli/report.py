"""`sfm report`: one page with everything that runs have shown."""

from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from sfm.cli.parse import command


@command
def main(
    runs: Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUNS")],
    out: Path = Path("report.html"),
    title: str = "What these runs have shown",
) -> None:
    """Write one page about runs: figures with intervals, the paper beside them, curves, pictures, commands.

    The page needs no network and no other file.

    Args:
        runs: Runs or folders of runs, however deep.
        out: The page to write.
        title: Its title.
    """
    from sfm import storage
    from sfm.errors import SfmError
    from sfm.report.page import page
    from sfm.report.records import read_all

    if not runs:
        raise SfmError("report on what? Give runs or folders of runs: sfm report runs --out report.html")
    records = read_all(runs)
    text = page(records, title).encode()
    storage.write_bytes(out, text)
    print(f"page    {out}: {len(records)} run{'s' * (len(records) > 1)}, {len(text) / 1e6:.1f} MB")
    damaged = [record for record in records if record.state == "damaged"]
    for record in damaged:
        print(f"damaged: {record.folder}: {record.problem}")
