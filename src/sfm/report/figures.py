"""Figures of groups: learning curves, bars, intervals, profiles. matplotlib is imported when one is drawn."""

import io
import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfm import storage
from sfm.evaluation.stats import Estimate, Line
from sfm.report.curves import Axis, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Okabe and Ito's colours, told apart by colour-blind readers too; then again with dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", ":", "-.")
INK, FAINT = "#222223", "#8a8a8b"  # stand for the page's own colours, which change with its theme
GREY = "#888888"
AXES = {"steps": "environment steps", "updates": "updates", "seconds": "seconds of training"}
FEW = 10  # seeds up to which each is drawn, too
MANY = 12  # groups that one panel can show
LETTER = 0.09  # inches of a letter in a legend, at most on average
HANDLE = 8  # letters' room for the line beside a name, and for what is between names


Looks = Mapping[str, tuple[str, str]]  # a colour and a dash for each group


def styles(names: Sequence[str]) -> Looks:
    """The same at every call with these names."""
    looks = itertools.cycle(itertools.product(DASHES, COLOURS))
    return {name: (colour, dash) for name, (dash, colour) in zip(names, looks, strict=False)}


def figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def learning(tasks: Mapping[str, Mapping[str, Summary]], axis: Axis, value: str, looks: Looks) -> "Figure":
    """A panel for each task; in it the mean and band of each group, and each seed thin."""
    from matplotlib.ticker import EngFormatter

    columns = min(3, len(tasks))
    rows = -(-len(tasks) // columns)
    drawn = figure(4.2 * columns + 0.6 * (columns == 1), 3.1 * rows + 0.5)
    panels = drawn.subplots(rows, columns, squeeze=False).flat
    shown: dict[str, Line2D] = {}
    for (task, groups), axes in zip(tasks.items(), panels, strict=False):
        axes.set_title(task, loc="left", fontsize=10, fontweight="bold")
        for name, found in groups.items():
            shown.setdefault(name, _curve(axes, found, *looks[name]))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        _plain(axes, AXES[axis], value)
    for axes in panels:
        axes.set_visible(False)
    _legend(drawn, shown)
    return drawn


def _legend(drawn: "Figure", shown: Mapping[str, "Line2D"]) -> None:
    """Below the panels, as many names side by side as there is room for; a longer one takes several lines."""
    room = int(drawn.get_size_inches()[0] / LETTER)
    names = [textwrap.fill(name, room - HANDLE) for name in shown]
    longest = max(len(line) for name in names for line in name.splitlines())
    columns = max(1, min(len(names), room // (longest + HANDLE)))
    drawn.legend(shown.values(), names, loc="outside lower center", ncols=columns, frameon=False)


def _curve(axes: "Axes", found: Summary, colour: str, dash: str) -> "Line2D":
    if 1 < len(found.seeds) <= FEW:
        for seed in found.seeds:
            axes.plot(seed.x, seed.y, color=colour, linewidth=0.5, alpha=0.3)
    if found.line.low is not None and found.line.high is not None:
        axes.fill_between(found.x, found.line.low, found.line.high, color=colour, alpha=0.18, linewidth=0)
    marks = {"marker": "o" if len(found.x) < 3 else "", "markersize": 4}
    return axes.plot(found.x, found.line.value, color=colour, linestyle=dash, linewidth=1.7, **marks)[0]


def bars(values: Mapping[str, Estimate], ours: Sequence[str], title: str) -> "Figure":
    """A bar for each method with its interval: ours in colour, others grey."""
    drawn = figure(max(4.0, 1.0 + 0.75 * len(values)), 3.6)
    axes = drawn.subplots()
    for at, (name, estimate) in enumerate(values.items()):
        axes.bar(at, estimate.value, color=COLOURS[0] if name in ours else GREY, width=0.7)
        if estimate.low is not None and estimate.high is not None:
            ends = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
            axes.errorbar(at, estimate.value, ends, color=INK, capsize=3, linewidth=1.2)
        axes.text(at, max(0.0, estimate.high or estimate.value) + 0.02, f"{estimate.value:.2f}", ha="center")
    axes.set_xticks(range(len(values)), [wrapped(name) for name in values], rotation=30, ha="right")
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    _plain(axes, "", "mean normalised return")
    return drawn


def intervals(
    groups: Mapping[str, Mapping[str, Estimate]], titles: Mapping[str, str], looks: Looks
) -> "Figure":
    """A panel for each aggregate, a line for each group: a point, and its interval as a bar behind it."""
    drawn = figure(11, 1.3 + 0.34 * len(groups))
    for axes, (key, title) in zip(drawn.subplots(1, len(titles), sharey=True), titles.items(), strict=True):
        for at, (name, found) in enumerate(groups.items()):
            colour, estimate = looks[name][0], found[key]
            if estimate.low is not None and estimate.high is not None:
                axes.barh(
                    at, estimate.high - estimate.low, left=estimate.low, height=0.55, color=colour, alpha=0.35
                )
            axes.plot([estimate.value] * 2, [at - 0.3, at + 0.3], color=colour, linewidth=2)
        axes.set_title(title, fontsize=10)
        axes.set_yticks(range(len(groups)), [wrapped(name, 34) for name in groups])
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.locator_params(axis="x", nbins=4)
        _plain(axes, "", "")
    return drawn


def profiles(groups: Mapping[str, Line], levels: np.ndarray, looks: Looks) -> "Figure":
    drawn = figure(6.2, 3.8)
    axes = drawn.subplots()
    for name, line in groups.items():
        colour, dash = looks[name]
        axes.plot(levels, line.value, color=colour, linestyle=dash, label=wrapped(name, 40))
        if line.low is not None and line.high is not None:
            axes.fill_between(levels, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    axes.legend(frameon=False, fontsize=8)
    _plain(axes, "normalised return (tau)", "share of seeds above tau")
    return drawn


def improvements(pairs: Mapping[tuple[str, str], Estimate]) -> "Figure":
    """A line for each pair: how probably a seed of the first is better than one of the second."""
    drawn = figure(8, 1.2 + 0.36 * len(pairs))
    axes = drawn.subplots()
    for at, estimate in enumerate(pairs.values()):
        if estimate.low is not None and estimate.high is not None:
            width = estimate.high - estimate.low
            axes.barh(at, width, left=estimate.low, height=0.5, color=COLOURS[0], alpha=0.35)
        axes.plot([estimate.value] * 2, [at - 0.28, at + 0.28], color=COLOURS[0], linewidth=2)
    axes.axvline(0.5, color=GREY, linewidth=1, linestyle="--")
    names = [f"{wrapped(a, 34)}  over  {wrapped(b, 34)}" for a, b in pairs]
    axes.set_yticks(range(len(pairs)), names)
    axes.set_ylim(len(pairs) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    _plain(axes, "probability of improvement", "")
    return drawn


def _plain(axes: "Axes", x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.tick_params(labelsize=8, color=FAINT)


def wrapped(name: str, most: int = 22) -> str:
    """A name that is not too long for a label."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def save(drawn: "Figure", stem: Path) -> list[Path]:
    """As stem.png and stem.svg."""
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    with storage.atomic(paths[0]) as temporary:
        drawn.savefig(temporary, format="png", dpi=150)
    storage.write_bytes(paths[1], _svg(drawn).encode())
    return paths


def inline(drawn: "Figure", name: str, title: str) -> str:
    """An SVG for a page: its text in the page's font and colours, its ids its own, and `title` in words."""
    text = _svg(drawn)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(?<=\d\.\d\d)\d+", "", tag[0]), text)  # not what is read
    width, height = (round(inches * 96) for inches in drawn.get_size_inches())
    shown = f'viewBox="0 0 {width * 0.75:g} {height * 0.75:g}" style="width:{width}px" role="img"'
    text = re.sub(r"<svg [^>]*>", f'<svg {shown} aria-label="{title}">', text, count=1)
    return text.replace(INK, "var(--ink)").replace(FAINT, "var(--faint)")


def _svg(drawn: "Figure") -> str:
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sfm"}):
        drawn.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
