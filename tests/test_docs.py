"""The documentation: its width, its links, and that what it names exists."""

import csv
import dataclasses
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfm.config import Config
from sfm.presets import PRESETS

ROOT = Path(__file__).parent.parent
GENERATED = ROOT / "docs" / "options.md"
PAGES = sorted(
    page for folder in ("", "docs", "results", "examples") for page in (ROOT / folder).glob("*.md")
)
TODAY = [
    page for page in PAGES if page.name not in ("HISTORY.md", "CHANGELOG.md")
]  # others tell of old names

CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"^<!-- table: .*?^<!-- end -->$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\])\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")
SETTING = re.compile(r"(?:`|--)((?:schedule|objective|learner)\.[\w.-]+)")
RECORDED = ROOT / "results" / "finals.csv"
PRESET = re.compile(r"`((?:fast|sfm|mm|gaifo|opolo|iq|expert|bco?)-[a-z][\w-]*)`|--preset ([a-z][\w-]*)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def slugs(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def settings(kind: type, above: str = "") -> Iterator[str]:
    """The dotted names of all settings of a dataclass, with those of every kind that a part can be of."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        yield above + field.name
        for option in typing.get_args(hints[field.name]) or (hints[field.name],):
            if dataclasses.is_dataclass(option):
                yield from settings(typing.cast(type, option), f"{above}{field.name}.")


def test_there_are_pages():
    assert {"README.md", "docs/paper.md", "results/HISTORY.md"} <= set(map(name, PAGES))


@pytest.mark.parametrize("page", [page for page in PAGES if page != GENERATED], ids=name)
def test_lines_are_at_most_100_wide(page):
    """But for code, generated tables, and the addresses of links."""
    text = page.read_text()
    shown = re.sub(r"(?<=\])\([^)]*\)", "", TABLE.sub("", CODE.sub("", text)))
    assert [line for line in shown.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for path, heading in LINK.findall(CODE.sub("", page.read_text())):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        assert not heading or heading in slugs(target), f"{path}#{heading}"


@pytest.mark.parametrize("page", TODAY, ids=name)
def test_settings_and_presets_exist(page):
    text, known = page.read_text(), set(settings(Config))
    named = {found.replace("-", "_").rstrip(".") for found in SETTING.findall(text)}
    assert named - known == set()
    assert {quoted or given for quoted, given in PRESET.findall(text)} - set(PRESETS) - recorded() == set()


def recorded() -> set[str]:
    """Presets of recorded runs: some have other names today."""
    with RECORDED.open() as table:
        return {row["preset"] for row in csv.DictReader(table)}


def test_settings_are_those_of_every_kind():
    known = set(settings(Config))
    assert {"gamma", "schedule.batch", "objective.features.lr", "objective.cost.loss"} <= known
    assert {"learner.target_interval", "learner.temperature", "objective.sees"} <= known
    assert "learner.target_intervals" not in known


def test_headings_are_found_as_github_names_them(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# What is the paper's, and `fast`\n```sh\n# a comment\n```\n")
    assert slugs(page) == {"what-is-the-papers-and-fast"}
