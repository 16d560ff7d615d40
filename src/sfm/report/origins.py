"""The part of a page that says what ran: every run, its settings, commands, commit, versions and machine."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sfm.evaluation.scores import published
from sfm.history import past_of
from sfm.presets import DEFAULT
from sfm.report import markup, paper
from sfm.report.groups import Groups
from sfm.report.markup import Cell
from sfm.report.records import Record
from sfm.report.settings import said, usual_of
from sfm.report.table import row, said_seeds

COLUMNS = ("run", "task", "method", "seeds", "steps", "state", "return", "likeness", "minutes", "where")
KINDS = ("learner.kind", "objective.kind", "preset")  # no option of the command line


class Places:
    """Where runs were trained; equal ones once, with a letter each."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.starts: dict[str, dict[str, Any]] = {}

    def name(self, start: dict[str, Any]) -> str:
        told = {k: start.get(k, "") for k in ("commit", "machine", "system", "python", "versions")}
        key = json.dumps(told, sort_keys=True)
        if key not in self.names:
            self.names[key] = f"{len(self.names) + 1}"
            self.starts[self.names[key]] = told
        return self.names[key]


def sections(records: Sequence[Record], groups: Groups) -> list[str]:
    places = Places()
    names = {record.folder: name for name, members in groups.items() for record in members}
    top = os.path.commonpath([record.folder.absolute().parent for record in records])
    rows = [("", _run(record, names.get(record.folder, ""), places, top)) for record in records]
    search = (
        '<p class="control"><label>Show runs with <input type="search" id="filter" aria-controls="runs">'
        "</label> "
        '<output id="found" for="filter"></output></p>'
    )
    return [
        markup.section("settings", "Settings, as differences from their presets", *_settings(groups)),
        markup.section("runs", "Runs", search, markup.table(f"All runs, below {top}", COLUMNS, rows)),
        markup.section("places", "Commits, versions and machines", _places(places)),
    ]


def paper_tables() -> str:
    """All tables of the paper, whole."""
    data = published()
    parts = [f"<p>Source: {markup.escape(data['source'])}. {markup.escape(data['what'].capitalize())}.</p>"]
    for name, methods in paper.tables().items():
        rows = []
        for task in paper.tasks():
            cells = (
                Cell(f"{m[task].mean:,.1f} <small>± {m[task].std:,.1f}</small>", m[task].mean)
                for m in methods.values()
            )
            rows.append(("", (task, *cells)))
        parts.append(markup.table(data["titles"][name], ("task", *methods), rows))
    return markup.section("paper", "The paper's tables", *parts)


def again(record: Record) -> str:
    """A command that trains the same again."""
    words = ["sfm", "train", record.task, "--preset", record.preset or DEFAULT]
    if (record.folder / "demos.npz").exists():
        words += ["--demos", str(record.folder / "demos.npz")]
    if any(name in record.changes for name in KINDS) or usual_of(record.preset) is None:
        return ""
    for name, value in record.changes.items():
        spoken = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *(str(v) for v in spoken)]
    for name in ("seed", "seeds"):
        words += [f"--{name}", str(record.settings.get(name, 0))]
    return shlex.join(words)


def _settings(groups: Groups) -> list[str]:
    rows = []
    for method, records in groups.items():
        usual = usual_of(records[0].preset) or {}
        for name, value in records[0].changes.items():
            was = said(usual[name]) if name in usual else "not there"
            rows.append(("", (method, name, said(value), was)))
    same = [method for method, records in groups.items() if not records[0].changes]
    parts = [f"<p>As their presets: {markup.escape(', '.join(same))}.</p>"] if same else []
    if rows:
        parts.append(markup.table("What differs", ("method", "setting", "here", "in the preset"), rows))
    return parts


def _run(record: Record, method: str, places: Places, top: str) -> Sequence[Cell | str]:
    told = row(record)
    starts = [past for past in past_of(record.folder) if "began" in past]
    where = dict.fromkeys(places.name(start) for start in starts)
    links = ", ".join(markup.link(f"#place-{name}", name) for name in where)
    details = [("command", start["command"]) for start in starts if start.get("command")]
    details += [("again", command)] if (command := again(record)) else []
    details += [("began", start["began"]) for start in starts]
    details += [("problem", record.problem)] if record.problem else []
    items = "".join(f"<dt>{name}</dt><dd><code>{markup.escape(value)}</code></dd>" for name, value in details)
    folder = markup.escape(os.path.relpath(record.folder, top))
    shown = markup.breakable(folder)
    name = f"<details><summary>{shown}</summary><dl>{items}</dl></details>" if items else shown
    return (
        Cell(name, folder),
        record.task,
        method,
        Cell(said_seeds(record.seeds), record.seeds[0] if record.seeds else None),
        Cell(f"{record.steps:,}", record.steps),
        Cell(f'<span class="state {record.state}">{record.state}</span>', record.state),
        markup.number(told["return"]),
        markup.number(told["likeness"], 2),
        markup.number(record.minutes),
        Cell(links or "not noted", ", ".join(where) or None),
    )


def _places(places: Places) -> str:
    if not places.starts:
        return "<p>These runs did not note where they were trained.</p>"
    parts = []
    for name, told in places.starts.items():
        versions: Mapping[str, str] = told["versions"] or {}
        items = {k: told[k] or "not known" for k in ("commit", "machine", "system", "python")}
        items |= {"versions": ", ".join(f"{package} {version}" for package, version in versions.items())}
        inner = "".join(f"<dt>{k}</dt><dd>{markup.escape(str(v))}</dd>" for k, v in items.items())
        parts.append(f'<h3 id="place-{name}" tabindex="-1">{name}</h3><dl>{inner}</dl>')
    parts.append("<p>A + behind a commit: the code was not as committed.</p>")
    return "".join(parts)
