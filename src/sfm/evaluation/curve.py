"""The learning curve of a run as one PNG: return, likeness and feature gap against environment steps."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfm import storage
from sfm.errors import SfmError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by colour-blind readers too.
CURRENT, KEPT, GAP, GREY = "#0072B2", "#D55E00", "#009E73", "#555555"

Series = dict[int, float]  # step -> value


def plot(
    rows: Sequence[dict[str, Any]],
    path: Path,
    *,
    title: str,
    expert: float | None = None,
    random: float | None = None,
) -> None:
    """Draws rows with "step", perhaps "seed", and any of "eval/current", "eval/kept", "likeness/current",
    "likeness/kept" and "gap".

    Several seeds are drawn thin, with their mean over the range of steps that all of them have, each taken to
    be straight between its points.
    """
    current, kept = _by_seed(rows, "eval/current"), _by_seed(rows, "eval/kept")
    alike = [_by_seed(rows, f"likeness/{which}") for which in ("current", "kept")]
    gap = _by_seed(rows, "gap", positive=True)
    if not (current or kept or any(alike) or gap):
        raise SfmError(f"nothing to plot in {path}: no evaluation has been logged yet")

    # Imported late, for it is slow; a Figure of its own keeps clear of pyplot's global state.
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    paid = bool(current or kept) or not any(alike)  # else the likeness takes the place of the return
    heights = [3, *[1 for below in (paid and any(alike), gap) if below]]
    figure = Figure(figsize=(7, 3 + len(heights)), dpi=150, layout="constrained")
    panels = figure.subplots(len(heights), squeeze=False, sharex=True, height_ratios=heights)
    top, second, bottom = panels[0, 0], panels[min(int(paid), len(heights) - 1), 0], panels[-1, 0]
    top.set_title(title, loc="left", fontweight="bold")
    seeds = max(map(len, (current, kept, *alike, gap)))
    if seeds > 1:
        top.set_title(f"mean of {seeds} seeds; each seed thin", loc="right", fontsize=9, color=GREY)
    for value, style, label in ((expert, "--", "expert"), (random, ":", "random policy")):
        if value is not None:
            top.axhline(value, color=GREY, linestyle=style, linewidth=1.2, label=f"{label} ({value:.0f})")
    _draw(top, current, CURRENT, "current policy")
    _draw(top, kept, KEPT, "kept policy")
    if paid:
        top.set_ylabel("return")
    if any(alike):
        for level, style in ((1, "--"), (0, ":")):  # the expert again, random actions
            second.axhline(level, color=GREY, linestyle=style, linewidth=1.2)
        _draw(second, alike[0], CURRENT, "current policy")
        _draw(second, alike[1], KEPT, "kept policy")
        second.set_ylim(bottom=max(-0.5, second.get_ylim()[0]))  # far below random is as bad as random
        second.set_ylabel("likeness")
    if gap:
        _draw(bottom, gap, GAP, "feature gap")
        _few_log_ticks(bottom, [value for series in gap for value in series.values()])
        bottom.set_ylabel("feature gap")
    bottom.set_xlabel("environment steps")
    bottom.xaxis.set_major_formatter(EngFormatter(sep=""))
    for axes in panels.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.margins(x=0.02)
    if top.get_legend_handles_labels()[0]:
        figure.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    with storage.atomic(Path(path)) as temporary:
        figure.savefig(temporary, format="png")


def _by_seed(rows: Sequence[dict[str, Any]], name: str, *, positive: bool = False) -> list[Series]:
    """One series, in order, per seed that has this metric; missing and non-finite values are left out."""
    seeds: dict[Any, Series] = {}
    for row in rows:
        value = row.get(name)
        if value is not None and math.isfinite(value) and (value > 0 or not positive):
            seeds.setdefault(row.get("seed"), {})[row["step"]] = float(value)
    return [dict(sorted(series.items())) for series in seeds.values()]


def _draw(axes: "Axes", seeds: list[Series], color: str, label: str) -> None:
    if len(seeds) > 1:
        for series in seeds:
            axes.plot(list(series), list(series.values()), color=color, linewidth=0.7, alpha=0.35)
    if seeds:
        mean = _mean(seeds)
        marks = {"marker": "o" if len(mean) <= 50 else "", "markersize": 3}
        axes.plot(list(mean), list(mean.values()), color=color, linewidth=1.8, label=label, **marks)


def _few_log_ticks(axes: "Axes", values: list[float]) -> None:
    """A log scale whose few tick labels fit a small panel; matplotlib would label every digit."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullLocator

    axes.set_yscale("log")
    span = max(values) / min(values)
    digits = LogLocator(subs=(1, 3) if span < 100 else (1,), numticks=5)
    axes.yaxis.set_major_locator(MaxNLocator(3) if span < 10 else digits)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))


def _mean(seeds: list[Series]) -> Series:
    low, high = max(map(min, seeds)), min(map(max, seeds))
    steps = sorted({step for series in seeds for step in series if low <= step <= high})
    lines = [np.interp(steps, list(series), list(series.values())) for series in seeds]
    return dict(zip(steps, np.mean(lines, 0).tolist(), strict=True))
