"""The part of a page that goes task by task: what methods had beside the paper, curves, a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sfm.evaluation.scores import normalised, published
from sfm.report import figures, markup, paper, pictures
from sfm.report.curves import Axis, Log, summary
from sfm.report.figures import Looks
from sfm.report.finals import Final, finals, said_steps
from sfm.report.groups import Sample
from sfm.report.markup import Cell
from sfm.report.table import said_seeds

COLUMNS = ("method", "seeds", "steps", "return", "spread", "worst seed", "score", "likeness", "minutes")
BESIDE = "SFM (TD7)"
MAIN: tuple[Axis, ...] = ("steps", "updates", "seconds")


def sections(groups: Mapping[str, Sequence[Sample]], looks: Looks, log: Log) -> list[str]:
    """One for each task."""
    found = finals(groups)
    overview = [_overview(found)] if len(found) > 1 else []
    share = pictures.LIMIT // max(1, len(found))
    parts = overview
    for task, methods in found.items():
        mine = {name: [s for s in groups[name] if s.record.task == task] for name in methods}
        inner = (_table(task, methods), _curves(task, mine, methods, looks, log), _picture(task, mine, share))
        parts.append(markup.section(f"task-{task}", task, *inner, level=3))
    return parts


def _overview(found: Mapping[str, Mapping[str, Final]]) -> str:
    """All tasks in one table, each a link to its section, beside the paper's best SFM."""
    theirs = paper.methods()[BESIDE]
    rows = []
    for task, methods in found.items():
        told = markup.number(None)
        if task in theirs:
            mean = theirs[task].mean
            told = Cell(f"{mean:,.1f} <small>score {normalised(task, mean):.2f}</small>", mean)
        for name, final in methods.items():
            who, seeds, _, returns, _, worst, score, _, minutes = _ours(task, name, final)
            link = Cell(markup.link(f"#{markup.anchor(f'task-{task}')}", task), task)
            alike = markup.number(final.likeness and final.likeness.value, 2)
            rows.append(("", (link, who, seeds, returns, worst, score, alike, minutes, told)))
    columns = (
        "task",
        "method",
        "seeds",
        "return",
        "worst seed",
        "score",
        "likeness",
        "minutes",
        "paper",
    )
    return markup.table(f"All tasks: the kept policies, beside the paper's {BESIDE}", columns, rows)


def _table(task: str, methods: Mapping[str, Final]) -> str:
    told = published()
    rows = [("", _ours(task, name, final)) for name, final in methods.items()]
    for name, returns in paper.methods("main", "td3", "stochastic").items():
        if task in returns:
            mean, std = returns[task]
            cells = (
                f"{name}, paper",
                Cell(str(told["seeds"]), told["seeds"]),
                Cell(f"{told['steps']:,}", told["steps"]),
                markup.number(mean),
                markup.number(std),
                markup.number(None),
                markup.number(normalised(task, mean), 2),
                markup.number(None),
                markup.number(None),
            )
            rows.append(("paper", cells))
    return markup.table(f"{task}: the kept policy at the last evaluation", COLUMNS, rows)


def _ours(task: str, name: str, final: Final) -> Sequence[Cell | str]:
    score = normalised(task, final.returns.value)
    steps = said_steps(final.steps)
    if final.unfinished:
        of = f"{final.unfinished} of {len(final.seeds)} seeds " if len(final.seeds) > 1 else ""
        steps += f" <small>{of}not finished</small>"
    seed, least = final.worst
    return (
        name,
        Cell(f"{len(final.seeds)} <small>{said_seeds(final.seeds)}</small>", len(final.seeds)),
        Cell(steps, final.steps[0]),
        markup.interval(final.returns),
        markup.number(final.spread),
        Cell(f"{least:,.1f} <small>seed {seed}</small>", least),
        markup.number(score, 2),
        markup.interval(final.likeness, 2) if final.likeness else markup.number(None),
        markup.number(final.minutes),
    )


def _curves(
    task: str,
    groups: Mapping[str, list[Sample]],
    methods: Mapping[str, Final],
    looks: Looks,
    log: Log,
) -> str:
    """One figure for each axis, of which the page shows one at a time."""
    shown = sorted(groups, key=lambda name: -methods[name].returns.value)[: figures.MANY]
    left = (
        ""
        if len(shown) == len(groups)
        else f" The {figures.MANY} of {len(groups)} methods with the highest returns."
    )
    parts = []
    for axis in MAIN:
        drawn = {
            name: found for name in shown if (found := summary(log.curve(s, axis) for s in groups[name]))
        }
        if drawn:
            title = f"Learning curves of {task} by {axis}"
            picture = figures.learning({task: drawn}, axis, "return", looks)
            name = markup.anchor(f"curve-{task}-{axis}")
            caption = f"{title}: mean over seeds with its 95% bootstrap interval, each seed thin.{left}"
            parts.append(
                markup.figure(
                    figures.inline(picture, name, markup.escape(title)), caption, f' data-axis="{axis}"'
                )
            )
    return "".join(parts)


def _picture(task: str, groups: Mapping[str, list[Sample]], limit: int) -> str:
    folder: Path | None = pictures.best_with_video([s for samples in groups.values() for s in samples])
    found = pictures.moving(folder, limit * 3 // 4) if folder else None
    if found is None:
        return "<p>No moving picture: none of these runs has a video that can be read.</p>"
    size = f'width="{found.width}" height="{found.height}"'
    name = markup.escape(task)
    picture = (
        f'<img src="{found.still}" data-moving="{found.moving}" {size} '
        f'alt="The kept policy on {name}, moving">'
        f'<button type="button" class="play" aria-pressed="false">Play {name}</button>'
    )
    return markup.figure(
        picture, f"The run with the highest return of those with a video: {found.run}", ' class="film"'
    )
