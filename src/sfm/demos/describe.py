"""What demonstrations look like: shapes, lengths and ranges as text, each dimension as a plot."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfm import storage
from sfm.demos.types import Demos
from sfm.errors import SfmError

Names = tuple[Sequence[str], Sequence[str]]
_CURVES = 8  # more demonstrations than this hide each other


def summary(demos: Demos) -> str:
    """How many demonstrations of what size, in one line."""
    count, _, obs_dim = demos.obs.shape
    low, high = demos.length.min(), demos.length.max()
    steps = f"{low}" if low == high else f"{low} to {high} (median {np.median(demos.length):.0f})"
    actions = "no actions" if demos.action is None else f"actions of {demos.action.shape[2]} dimensions"
    simulator = "" if demos.qpos is None else ", with qpos and qvel"
    told = "" if demos.returns is None else f", return {demos.returns.mean():.1f}"
    return (
        f"{count} demonstration{'s' if count > 1 else ''} of {steps} steps, "
        f"states of {obs_dim} dimensions, {actions}{simulator}{told}"
    )


def labels(demos: Demos, names: Names = ((), ())) -> tuple[list[str], list[str]]:
    """«state 3», of each dimension of states and of actions; with an environment's names «state 3 height»."""
    sizes = demos.obs.shape[2], 0 if demos.action is None else demos.action.shape[2]
    given = (known if len(known) == size else [""] * size for known, size in zip(names, sizes, strict=True))
    states, actions = (
        [f"{kind} {i} {name}".strip() for i, name in enumerate(some)]
        for kind, some in zip(("state", "action"), given, strict=True)
    )
    return states, actions


def table(demos: Demos, names: Names = ((), ())):
    """A rich table: range, mean, deviation and typical change per step of each dimension.

    `names`: of an environment's observations and actions; shown where there are as many.
    """
    from rich.table import Column, Table

    heads = (Column(name, justify="right") for name in ("min", "max", "mean", "std", "per step"))
    made = Table("", *heads, box=None, pad_edge=False, padding=(0, 1))
    for rows_of, parts in zip(labels(demos, names), zip(*demos.episodes(), strict=True), strict=True):
        if parts[0] is None:
            continue
        values = np.concatenate(parts).astype(np.float64)
        steps = np.concatenate([np.abs(np.diff(part, axis=0)) for part in parts])
        change = steps.mean(0) if len(steps) else np.zeros(values.shape[1])
        rows = zip(values.min(0), values.max(0), values.mean(0), values.std(0), change, strict=True)
        for label, row in zip(rows_of, rows, strict=True):
            made.add_row(label, *(f"{number:.3g}" for number in row))
    return made


def plot(demos: Demos, path: str | Path, names: Names = ((), ())) -> None:
    """Writes a picture with a panel per dimension over time, states first, then actions."""
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.figure import Figure

    kind, known = Path(path).suffix.lower().removeprefix("."), FigureCanvasBase.get_supported_filetypes()
    if kind not in known:
        raise SfmError(f"{path} is no picture: end its name with one of .{', .'.join(sorted(known))}")
    states, actions = labels(demos, names)
    panels = [(label, demos.obs[..., i], demos.length + 1) for i, label in enumerate(states)]
    if demos.action is not None:
        panels += [(label, demos.action[..., i], demos.length) for i, label in enumerate(actions)]
    columns = min(6, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(2.4 * columns, 1.5 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    for axis, (name, values, counts) in zip(axes, panels, strict=False):
        for demo in range(min(_CURVES, len(values))):
            axis.plot(values[demo, : counts[demo]], linewidth=0.6)
        axis.set_title(name, fontsize=8)
        axis.tick_params(labelsize=6)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    with storage.atomic(Path(path)) as temporary:
        figure.savefig(temporary, format=kind, dpi=120)
