"""Pieces of a page: text, tables that can be sorted, figures."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from sfm.evaluation.stats import Estimate

__all__ = [
    "Cell",
    "anchor",
    "breakable",
    "escape",
    "figure",
    "interval",
    "link",
    "number",
    "section",
    "table",
]


class Cell(NamedTuple):
    """What a cell shows, as HTML, and by what it is sorted; None comes last."""

    html: str
    key: float | str | None


def number(value: float | None, digits: int = 1) -> Cell:
    if value is None:
        return Cell("", None)
    return Cell(f"{round(value, digits) + 0.0:,.{digits}f}", value)  # never -0.0


def interval(estimate: Estimate, digits: int = 1) -> Cell:
    """The mean and, small, its interval or why there is none."""
    said = "one seed: no interval"
    if estimate.low is not None and estimate.high is not None:
        said = f"{estimate.low:,.{digits}f} to {estimate.high:,.{digits}f}"
    return Cell(f"{estimate.value:,.{digits}f} <small>{said}</small>", estimate.value)


def link(target: str, text: str) -> str:
    return f'<a href="{escape(target)}">{escape(text)}</a>'


def breakable(name: str) -> str:
    """A folder's name, escaped already, that goes on in the next line between its parts."""
    return re.sub(r"(?<=[/_])", "<wbr>", name)


def anchor(name: str) -> str:
    """An id of a name, which may be anything."""
    return "".join(c if c.isalnum() else "-" for c in name)


def section(name: str, title: str, *parts: str, level: int = 2) -> str:
    inner = "\n".join(part for part in parts if part)
    return (
        f'<section id="{anchor(name)}" aria-labelledby="{anchor(name)}-title">'
        f'<h{level} id="{anchor(name)}-title">{escape(title)}</h{level}>\n{inner}\n</section>'
    )


def figure(picture: str, caption: str, attributes: str = "") -> str:
    return f"<figure{attributes}>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def table(caption: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[Cell | str]]]) -> str:
    """Rows with a class each. The first cell heads its row; any column sorts the table."""
    head = "".join(f'<th scope="col"><button type="button">{escape(c)}</button></th>' for c in columns)
    body = "\n".join(_row(kind, cells) for kind, cells in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _row(kind: str, cells: Sequence[Cell | str]) -> str:
    whole = [cell if isinstance(cell, Cell) else Cell(escape(cell), cell) for cell in cells]
    first, *rest = (_cell(cell, "td" if i else 'th scope="row"') for i, cell in enumerate(whole))
    return f"<tr{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{first}{''.join(rest)}</tr>"


def _cell(cell: Cell, tag: str) -> str:
    kind = ' class="n"' if isinstance(cell.key, (int, float)) else ""
    key = "" if cell.key is None else escape(str(cell.key))
    sorts = f' data-key="{key}"' if cell.key is None or key != cell.html else ""
    return f"<{tag}{kind}{sorts}>{cell.html}</{tag.split()[0]}>"
