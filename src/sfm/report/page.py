"""One page with everything that runs have shown; it needs nothing but itself."""

import itertools
import time
from collections.abc import Sequence
from pathlib import Path

from sfm.errors import SfmError
from sfm.report import aggregate, figures, markup, origins, tasks
from sfm.report.curves import Log
from sfm.report.groups import Groups, grouped, pooled, samples, tell
from sfm.report.records import Record

HERE = Path(__file__).parent
LONG = 48  # letters of a name of a method
AXES = ("steps", "updates", "seconds")


def page(records: Sequence[Record], title: str) -> str:
    """The HTML of a report on some runs; an error if none of them can be shown."""
    groups, log, notes = _named(grouped(records)), Log(), tell(records)
    mine = {}
    for name, members in groups.items():
        mine[name], said = samples(members)
        notes += [*said, *pooled(name, mine[name])]
    if not any(mine.values()):
        raise SfmError(
            f"none of these {len(records)} runs has been evaluated yet: {notes[0] if notes else 'wait'}"
        )
    looks = figures.styles(list(mine))
    everything = aggregate.sections(mine, looks)
    if not everything:
        notes.append("none of these tasks is one of the paper's: nothing is aggregated over tasks")
    by_task = tasks.sections(mine, looks, log)
    parts = [
        _notes([*notes, *log.notes]),
        *everything,
        markup.section("tasks", "Task by task", _controls(), *by_task),
        origins.paper_tables(),
        *origins.sections(records, groups),
    ]
    return _whole(title, _about(records, mine), parts, bool(everything))


def _named(groups: Groups) -> Groups:
    """By names that fit into tables: of many changes only how many there are, which the settings tell."""
    names: Groups = {}
    for method, records in groups.items():
        name = method
        if len(method) > LONG:
            short = f"{records[0].preset or 'no preset'}, {len(records[0].changes)} changes"
            name = next(n for k in itertools.count(1) if (n := f"{short} ({k})") not in names)
        names[name] = records
    return names


def _about(records: Sequence[Record], mine: dict) -> str:
    seeds = sum(map(len, mine.values()))
    names = sorted({s.record.task for found in mine.values() for s in found})
    counts = (
        _many(len(records), "run"),
        _many(seeds, "seed"),
        _many(len(mine), "method"),
        _many(len(names), "task"),
    )
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return f"{', '.join(counts)}. Made {made}."


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _notes(notes: list[str]) -> str:
    """What is damaged, missing or left out; long lists are folded."""
    if not notes:
        return ""
    items = "".join(f"<li>{markup.escape(note)}</li>" for note in notes)
    inner = f"<ul>{items}</ul>"
    if len(notes) > 5:
        inner = f"<details><summary>{len(notes)} notes on these runs</summary>{inner}</details>"
    return markup.section("notes", "To know first", inner)


def _controls() -> str:
    options = "".join(
        f'<label><input type="radio" name="axis" value="{axis}"'
        f"{' checked' * (axis == 'steps')}> {axis}</label>"
        for axis in AXES
    )
    return (
        f'<fieldset class="control"><legend>Curves by</legend>{options}</fieldset>'
        '<p class="control"><label><input type="checkbox" id="theirs" checked> the paper\'s rows</label></p>'
    )


def _whole(title: str, about: str, parts: list[str], aggregated: bool) -> str:
    found = {"figure-1": "Figure 1", "rliable": "RLiable"} if aggregated else {}
    found |= {
        "tasks": "Tasks",
        "paper": "The paper",
        "settings": "Settings",
        "runs": "Runs",
        "places": "Machines",
    }
    links = "".join(f"<li>{markup.link(f'#{name}', text)}</li>" for name, text in found.items())
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    name = markup.escape(title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{name}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header>
<h1>{name}</h1>
<p>{markup.escape(about)}</p>
<nav aria-label="Contents"><ul>{links}</ul></nav>
<p class="control"><button type="button" id="theme">Theme: automatic</button></p>
</header>
<main id="main" tabindex="-1">
{chr(10).join(part for part in parts if part)}
</main>
<div id="said" class="unseen" role="status"></div>
<script>
{script}</script>
</body>
</html>
"""
