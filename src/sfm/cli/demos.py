"""`sfm demos`: list, inspect, convert, examine and collect demonstrations, and make them from motion."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from sfm import presets
from sfm.cli.environment import MADE, Made, _Made
from sfm.cli.from_motion import from_motion
from sfm.cli.screen import whole
from sfm.config import Config, overridden
from sfm.demos.repair import NONE, Repair
from sfm.errors import SfmError
from sfm.presets import DEFAULT


def main(args: Sequence[str]) -> int:
    tyro.extras.subcommand_cli_from_dict(
        {
            "list": list_,
            "inspect": inspect,
            "convert": convert,
            "doctor": doctor,
            "collect": collect,
            "from-motion": from_motion,
        },
        prog="sfm demos",
        description="List, inspect, convert, examine and collect demonstrations; make them from motion.",
        args=list(args),
    )
    return 0


def list_() -> None:
    """The bundled demonstrations, and how each was made."""
    from rich.console import Console
    from rich.table import Column, Table

    from sfm.demos import bundled

    names = ("task", "states", "actions", "steps", "returns", "policy's mean")
    table = Table(*(Column(name, no_wrap=True) for name in names), box=None, pad_edge=False, padding=(0, 1))
    for name in bundled.names():
        demos, made = bundled.bundled(name), bundled.provenance(name)
        assert demos is not None
        actions = "none" if demos.action is None else str(demos.action.shape[2])
        returns = " ".join(f"{r:.0f}" for r in made.get("returns", ()))
        if maker := made.get("policy", ""):
            maker = f"{made['all_returns_mean']:.0f} ({maker['steps'] / 1000:,.0f}k steps)"
        steps = " ".join(map(str, sorted(set(demos.length.tolist()))))
        table.add_row(name, str(demos.obs.shape[2]), actions, steps, returns, maker)
    if table.rows:
        whole(Console(), table)
    else:
        print("no demonstrations are bundled")


def inspect(
    path: Positional[str], task: str | None = None, plot: Path | None = None, made: Made = MADE
) -> None:
    """Shapes, lengths and ranges of demonstrations; with a task also what the doctor says.

    Args:
        path: A file, a folder, a Minari id or a bundled task.
        task: Compare with this environment, and show its names.
        plot: Write a picture (.png, .pdf, .svg) with each dimension over time.
        made: The environment.
    """
    from rich.console import Console

    from sfm.demos import describe
    from sfm.demos.load import load
    from sfm.envs import signals

    demos, names = load(path), ((), ())
    if task is not None:
        env = made.env(task)
        names = signals.obs_names(env), signals.action_names(env)
        env.close()
    console = Console(soft_wrap=True)
    console.print(f"{path}: {describe.summary(demos)}", markup=False, highlight=False)
    whole(console, describe.table(demos, names))
    if plot is not None:
        describe.plot(demos, plot, names)
        console.print(f"plot: {plot}", markup=False)
    if task is not None:
        _report(path, task, presets.preset(DEFAULT), made)


def convert(
    source: Positional[str],
    target: Positional[str],
    repair: Annotated[Repair, tyro.conf.arg(name=""), tyro.conf.UseAppendAction] = NONE,
    format: str | None = None,
    force: bool = False,
) -> None:
    """Writes demonstrations in another format, or repaired.

    Args:
        source: A file, a folder, a Minari id or a bundled task.
        target: A file or a new folder; minari:ID writes among this machine's Minari datasets.
        repair: What is changed on the way; columns and times count from 0, as the doctor counts.
        format: npz, csv, minari, imitation, lerobot (v3.0) or lerobot-v2.1; default: by the target's suffix.
        force: Overwrite a file that exists.
    """
    from sfm.demos import describe
    from sfm.demos.files import check_new
    from sfm.demos.load import load
    from sfm.demos.save import format_of, save

    format_of(target, format)
    check_new(target, force)
    demos = load(source, repair)
    save(target, demos, format)
    print(f"{target}: {describe.summary(demos)}")


def doctor(
    path: Positional[str],
    task: Positional[str],
    preset: str = DEFAULT,
    gamma: float | None = None,
    made: Made = MADE,
) -> None:
    """Compares demonstrations with an environment and says what is wrong and what to do.

    Args:
        path: A file, a folder, a Minari id or a bundled task.
        task: The environment to train in.
        preset: The preset to train with: it decides whether length and end matter.
        gamma: The discount to train with; default: that of the preset.
        made: The environment.
    """
    config = overridden(presets.preset(preset), {} if gamma is None else {"gamma": gamma})
    errors = _report(path, task, config, made)
    if errors:
        raise SfmError(f"{path} does not fit '{task}': {errors} error{'s' if errors > 1 else ''}, see above")


def collect(
    policy: Positional[Path],
    target: Positional[Path],
    count: int = 5,
    candidates: int = 20,
    seed: int = 0,
    force: bool = False,
) -> None:
    """Record demonstrations of a trained policy: the best of several noise-free episodes.

    Args:
        policy: A run folder, a policy file or the name of a bundled expert.
        target: The file to write, .npz or .csv.
        count: How many to keep.
        candidates: How many episodes to play.
        seed: Of the starts.
        force: Overwrite a file that exists.
    """
    if not 1 <= count <= candidates:
        raise SfmError("--count must lie between 1 and --candidates")
    if seed < 0:
        raise SfmError("--seed must not be negative")
    from rich.progress import Progress as Bar

    from sfm.demos.files import check_new
    from sfm.demos.save import format_of, save
    from sfm.evaluation.collect import collect as record
    from sfm.policy import load_policy
    from sfm.robots import remembered
    from sfm.run import reopen

    format_of(target)
    check_new(target, force)
    actor = load_policy(policy)
    here = (policy / "config.json").is_file()
    env = (reopen(policy).world if here else remembered(actor.meta)).make()
    with Bar() as bar:
        task = bar.add_task("episodes", total=candidates)
        demos, made = record(env, actor, count, candidates, seed, lambda n: bar.update(task, completed=n))
    save(target, demos, provenance=made)
    if demos.reward is None:
        print(f"wrote {target}: the first {count} of {candidates} episodes, without a reward")
        return
    print(f"wrote {target}: returns {', '.join(f'{r:.1f}' for r in made['returns'])}")
    print(f"all {candidates}: {made['all_returns_mean']:.1f} +- {made['all_returns_std']:.1f}")


def _report(path: str, task: str, config: Config, made: _Made) -> int:
    """Prints all findings; the number of errors among them."""
    from rich.console import Console
    from rich.markup import escape

    from sfm.demos.doctor import examine_file

    console = Console(soft_wrap=True)
    findings = examine_file(path, functools.partial(made.env, task), config)
    for finding in findings:
        colour = "red" if finding.severity == "error" else "yellow"
        console.print(f"[{colour}]{finding.severity}[/]: {escape(finding.what)}")
        console.print(f"    {escape(finding.advice)}")
    if not findings:
        console.print(f"{escape(path)} fits '{task}': nothing to object")
    return sum(finding.severity == "error" for finding in findings)
