"""The tables of README.md, docs/fast.md and results/README.md, from the files in results/ and the presets.

    python -m benchmarks.readme     # writes those that are stale anew

Each stands between `<!-- table: NAME -->` and `<!-- end -->`; the text around them is written by hand.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import records, trials
from benchmarks.records import Row, grouped
from benchmarks.tables import by_updates, first, grid, reached
from sfm import storage
from sfm.config import flat, to_dict
from sfm.evaluation.scores import normalised
from sfm.presets import PRESETS
from sfm.report.paper import methods

__all__ = ["Known", "filled"]

PAGES = tuple(records.ROOT / name for name in ("README.md", "docs/fast.md", "results/README.md"))
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
TEN_TASKS = "ten-tasks-3"  # the newest runs of the default preset on all of them
DIGITS = (0, 2, 2, 2, 1, 0, 2)  # of the columns of the headline
IDLE = "amd-epyc-2"  # two idle cores
PAPER_SPEED = "updates/sfm-td3/updates_per_s"
BASELINES = ("sfm-td3-cpu", "mm-td3-cpu", "gaifo-td3-cpu", "opolo-td3-cpu", "iq-learn-cpu", "bco", "bc")


class Known(NamedTuple):
    """Everything in results/."""

    runs: list[Row]
    finals: list[Row]
    trials: list[Row]
    speed: list[Row]

    def of(self, *series: str, **columns: str) -> list[Row]:
        """Runs of some series; of others' columns only these values."""
        return [row for row in self.runs if row["series"] in series and _has(row, columns)]

    def ends(self, series: str, **columns: str) -> list[Row]:
        return [row for row in self.finals if row["series"] == series and _has(row, columns)]


def known(folder: Path = records.RESULTS) -> Known:
    return Known(*(records.read(folder / name) for name in records.KEPT))


def headline(now: Known) -> str:
    """What the default preset had on each task, beside the paper's SFM with TD7 after a million steps."""
    theirs, rows = methods()["SFM (TD7)"], {}
    for (task,), ends in grouped(now.ends(TEN_TASKS), "task").items():
        returns, alike = (np.array([end[name] for end in ends]) for name in ("mean", "likeness"))
        alike = alike.clip(max=1)  # more tells of a demonstration whose parts differ, not of the policy
        scores = normalised(task, returns)
        minutes = [row["seconds"] / 60 for row in now.of(TEN_TASKS, task=task)]
        paper = theirs[task].mean, normalised(task, theirs[task].mean)
        rows[task] = returns.mean(), scores.mean(), scores.min(), alike.mean(), max(minutes), *paper
    table = np.array(list(rows.values()))
    told = [(task, *(f"{x:.{d}f}" for x, d in zip(row, DIGITS, strict=True))) for task, row in rows.items()]
    score, likeness, paper = (f"{x:.2f}" for x in table[:, [1, 3, 6]].mean(0))
    told.append(("all", "", score, f"{table[:, 2].min():.2f}", likeness, "", "", paper))
    ours = ("return", "score", "worst seed", "likeness", "minutes")
    return grid(("task", *ours, "paper's return", "its score"), told)


def judged(now: Known) -> str:
    """The default preset over all its runs, without choosing: what is asked of it, and what it has."""
    theirs, ends = methods()["SFM (TD7)"], now.ends(TEN_TASKS)
    runs = grouped(now.of(TEN_TASKS), "task", "seed")
    score, alike, reached, lost = {}, {}, {}, []
    for (task,), mine in grouped(ends, "task").items():
        returns, likeness = (np.array([end[name] for end in mine]) for name in ("mean", "likeness"))
        score[task], alike[task] = normalised(task, returns), likeness.clip(max=1).mean()
        reached[task] = returns.mean() >= theirs[task].mean - theirs[task].std
        for end in mine:
            evaluations = runs[task, end["seed"]]
            best = max(row.get(which, 0.0) for row in evaluations for which in ("kept", "current"))
            lost.append(max(0.0, 1 - end["mean"] / best))
    minutes = max(row["seconds"] / 60 for row in now.of(TEN_TASKS))
    alike_all = np.mean([*alike.values()])
    alike_light = np.mean([value for task, value in alike.items() if not task.startswith("quadruped")])
    below = f"{np.mean(lost):.1%}, {max(lost):.1%}"
    told = {
        "runs": f"{len(ends)}",
        "mean score, each task alike": f"{np.mean([s.mean() for s in score.values()]):.3f}",
        "worst run's score": f"{min(s.min() for s in score.values()):.2f}",
        "tasks at the paper's SFM (TD7) less one of its standard deviations": f"{sum(reached.values())}",
        "mean likeness; walkers and cheetahs alone": f"{alike_all:.2f}; {alike_light:.2f}",
        "kept policy below the best evaluation of its run: mean, worst": below,
        "minutes of training at most": f"{minutes:.1f}",
    }
    return grid(("what", "measured"), told.items())


def settings(now: Known) -> str:
    """Where presets differ; one that has no such setting has an empty cell."""
    names = ("sfm-td3", "fast", "general")
    values = [dict(flat(to_dict(PRESETS[name]))) for name in names]
    lines = ((f"`{name}`", *(mine.get(name, "") for mine in values)) for name in values[0] | values[1])
    return grid(("setting", *names), (line for line in lines if len(set(line[1:])) > 1))


def fast(now: Known) -> str:
    return reached(now.of("fast-5", changes=""), now.finals)


def main(now: Known) -> str:
    rows = now.of("main-5")
    lines = [["kept", *(f"{row['kept']:.0f}" for row in rows)]]
    lines += [["current", *(f"{row['current']:.0f}" for row in rows)]]
    lines += [["seconds", *(f"{row['seconds']:.0f}" for row in rows)]]
    return grid(["steps", *(f"{row['step'] // 1000}k" for row in rows)], lines)


def paper(now: Known) -> str:
    """What the paper's preset had, the seconds it would take on two cores, and how `fast` compares."""
    rate = next(row["value"] for row in now.speed[::-1] if row["figure"] == PAPER_SPEED)
    lines = []
    for (task,), rows in grouped(now.of("paper-1"), "task").items():
        judged = [row for row in rows if "kept" in row]
        best, last = max(judged, key=lambda row: row["kept"]), judged[-1]
        ours = grouped(now.of("fast-5", task=task, changes="", machine=IDLE), "seed").values()
        expert = now.ends("fast-5", task=task)[0]["expert"]
        had, spent = first_of(ours, best["kept"]), last["updates"] / rate
        ahead = (first_of(ours, share * expert) for share in (0.5, 0.8))
        line = [task, f"{rows[-1]['step']:,} steps, {rows[-1]['seconds']:,.0f} s"]
        line += [f"{best['kept']:.0f} after {best['updates']:,}", f"{best['updates'] / rate:,.0f} s"]
        line += [f"{had:.0f} s", f"{last['updates']:,}, {spent:,.0f} s"]
        lines.append(line + [f"{spent // seconds:.0f}" if seconds else "-" for seconds in ahead])
    header = ("task", "went on for", "had at most, after updates", "which takes", "`fast` had as much after")
    return grid((*header, "judged last after updates", "`fast` to 50%, times less", "to 80%"), lines)


def first_of(seeds: Iterable[list[Row]], least: float) -> float | None:
    """Seconds until kept policies of all seeds have had so much; None if one never had."""
    there = [first(rows, least) for rows in seeds]
    return max(row["seconds"] for row in there if row) if all(there) else None


def learning(now: Known) -> str:
    return by_updates(now.of("reference", "learning-5", task="walker_walk"))


def learned(now: Known) -> str:
    return reached(now.of("learning-5"), now.finals)


def baselines(now: Known) -> str:
    """Returns at the end by seed, with the learner's settings of that time and (before) older ones."""
    tasks = ("walker_stand", "cheetah_walk")
    lines = []
    for name in (*BASELINES, "random"):
        pair = ("random", "") if name == "random" else ("baselines-2", "baselines-1")
        ends = (now.ends(series, task=task, preset=name) for task in tasks for series in pair)
        cells = (", ".join(f"{row['mean']:.0f}" for row in mine) for mine in ends)
        rows = (now.of("baselines-2", task=task, preset=name) for task in tasks)
        minutes = (f"{mine[-1]['seconds'] / 60:.1f}" for mine in rows if mine)
        lines.append((name, *cells, ", ".join(minutes)))
    header = (word for task in tasks for word in (task, "before"))
    return grid(("preset", *header, "minutes, both seeds"), lines)


def experts(now: Known) -> str:
    lines = []
    for end in now.ends("experts"):
        theirs, chance = (now.ends(s, task=end["task"])[0] for s in ("experts-paper", "random"))
        ours = f"{end['mean']:.0f} +- {end['std']:.0f}"
        error = chance["std"] / chance["episodes"] ** 0.5
        share = f"{end['mean'] / theirs['mean']:.1%}"
        random = f"{chance['mean']:.0f} +- {error:.0f}" if error >= 1 else f"{chance['mean']:.0f}"
        least = f"{end['min']:.0f}"
        lines.append((end["task"], f"{end['step']:,}", ours, least, f"{theirs['mean']:.0f}", share, random))
    return grid(("task", "steps", "return", "least", "the paper's", "share", "random"), lines)


def tried(now: Known) -> str:
    """Mean training return of the presets with one thing changed, all tasks side by side."""
    options, columns = trials.Options(), []
    for task, (_, steps) in trials.TASKS.items():
        found = trials.found(options, task, now.trials)
        means = {name: trials.mean_return(trials.by_seed(rows, steps), steps) for name, rows in found.items()}
        columns.append({name: "stopped" if np.isnan(mean) else f"{mean:.0f}" for name, mean in means.items()})
    names = dict.fromkeys(name for column in columns for name in column)
    lines = ([f"`{name}`", *(column.get(name, "") for column in columns)] for name in names)
    return grid(("trial", *trials.TASKS), lines)


def series(now: Known) -> str:
    """What is in the tables: runs (one for each seed), rows, and the commits of the code that made them."""
    lines = []
    for (name,), rows in grouped([*now.runs, *now.trials], "series").items():
        told = (dict.fromkeys(row.get(column) for row in rows) for column in ("task", "preset", "commit"))
        tasks, presets, commits = ([word for word in words if word] for words in told)
        count = len({records.identity(row) for row in rows})
        few = commits if len(commits) < 4 else [*commits[:2], "..."]
        lines.append((name, ", ".join(tasks), ", ".join(presets), count, len(rows), ", ".join(few)))
    return grid(("series", "tasks", "presets", "runs", "rows", "commits"), lines)


TABLES: dict[str, Callable[[Known], str]] = {
    made.__name__: made
    for made in (
        headline,
        judged,
        settings,
        fast,
        main,
        paper,
        learning,
        learned,
        baselines,
        experts,
        tried,
        series,
    )
}


def filled(text: str, now: Known) -> str:
    """The text with every table in it made anew."""
    return BLOCK.sub(lambda found: f"{found[1]}{TABLES[found[2]](now)}\n{found[3]}", text)


def _has(row: Row, columns: dict[str, str]) -> bool:
    return all(row.get(name, "") == value for name, value in columns.items())


if __name__ == "__main__":
    now = known()
    for path in PAGES:
        text = path.read_text()
        fresh = filled(text, now)
        if fresh != text:
            storage.write_bytes(path, fresh.encode())
        print(f"{path}: {'written' if fresh != text else 'as it was'}")
