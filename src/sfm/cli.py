"""The command `sfm`. Parses, calls the library, prints. Heavy imports wait until a command runs."""

import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfm.config import Config, LearnerConfig, Normalise, ObjectiveConfig, ScheduleConfig
from sfm.errors import SfmError, unknown
from sfm.presets import DEFAULT, PRESETS, preset

__all__ = ["main"]

TASK = "walker_walk"  # of the bundled demonstration

HELP = f"""\
usage: sfm COMMAND [OPTIONS]      (sfm COMMAND --help tells more)

Imitation from states alone, by Successor Feature Matching.

  train [TASK]      learn to behave like demonstrations; default task {TASK}
  resume RUN        go on with a run that was stopped or killed
  fork RUN NEW      go on with a copy of a run, with other settings
  eval RUN          evaluate a trained policy, draw its curve, record a video
  demos COMMAND     list, inspect, convert, examine and collect demonstrations
  presets           the named configurations
  tasks             the bundled tasks

  --debug           show the traceback of an error
  --version
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 an error that one line explains, 2 bad usage, 130 interrupted, 141 unread."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    if not args or args[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0
    if args[0] == "--version":
        from importlib.metadata import version

        print(version("successor-feature-matching"))
        return 0
    try:
        command = COMMANDS.get(args[0])
        if command is None:
            raise unknown("command", args[0], COMMANDS)
        status = command(args[1:])
        sys.stdout.flush()
        return status
    except (SfmError, MemoryError, RuntimeError) as error:
        short = isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)  # the latter is JAX's
        if debug or not (short or isinstance(error, SfmError)):
            raise
        fewer = "out of memory: use a smaller --schedule.replay, fewer --seeds or fewer environments"
        print(f"error: {fewer if short else error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parse(kind: Any, prog: str, args: Sequence[str], **options: Any) -> Any:
    import tyro

    return tyro.cli(kind, prog=f"sfm {prog}", args=list(args), **options)


# train


def _train(args: Sequence[str]) -> int:
    import tyro

    name = _value_of("--preset", args) or DEFAULT
    base = preset(name)

    @dataclass(frozen=True)
    class Train:
        """Learn to behave like demonstrations, from their states alone or, where the preset says so, actions.

        Writes a run folder with the log, resumable checkpoints, policies, a curve and a video.
        """

        task: tyro.conf.Positional[str] = TASK
        """A bundled task (see `sfm tasks`), a dm_control task, or a Gymnasium id."""
        demos: Path | None = None
        """Demonstrations; default: the one bundled for the task."""
        demo: int | None = None
        """Use only this one of several demonstrations, counted from 0; default: all of --demos."""
        preset: str = name
        """A named configuration (see `sfm presets`); every option below starts from it."""
        run: Path | None = None
        """The run folder; default: a new one under runs/."""
        seed: int = 0
        seeds: int = 1
        """Train this many seeds at once, from --seed upwards."""
        steps: int | None = None
        """Short for --schedule.steps."""
        video: bool = True
        """Record a video at the end."""
        tensorboard: bool = False
        wandb: bool = False
        warm_start: str = base.warm_start
        """`bc`: begin with an actor that has cloned the actions of the demonstrations. Or a policy to go on
        from: a task (its expert), a run folder or a policy file; see --schedule.actor-start-update."""
        warm_start_updates: int = base.warm_start_updates
        """Of that cloning."""
        gamma: float = base.gamma
        n_step: int = base.n_step
        """Cumulants in a critic's target before its own value ends it."""
        normalise: Normalise = base.normalise
        """Which networks see states standardised by running statistics of replay: `features` is phi."""
        learner: LearnerConfig = base.learner
        objective: ObjectiveConfig = base.objective
        schedule: ScheduleConfig = base.schedule

    given = _parse(Train, "train", args, config=(tyro.conf.AvoidSubcommands,))
    asked = {f.name: getattr(given, f.name) for f in dataclasses.fields(Config) if f.name != "preset"}
    if given.steps is not None:
        asked["schedule"] = dataclasses.replace(given.schedule, steps=given.steps)
    config = dataclasses.replace(base, **asked)
    from sfm import api
    from sfm.run import create
    from sfm.training.logs import check_extras

    check_extras(given.tensorboard, given.wandb)
    demos, provenance = api.find_demos(given.demos, config, given.demo)
    folder = given.run or api.default_folder(config)
    run = create(folder, config, demos, provenance=provenance)
    return _run(run, given.video, given.tensorboard, given.wandb)


def _resume(args: Sequence[str]) -> int:
    from tyro.conf import Positional

    @dataclass(frozen=True)
    class Resume:
        """Go on with a run that was stopped or killed, as if it had not been."""

        run: Positional[Path]
        """The run folder."""
        steps: int | None = None
        """Train up to this many steps instead of what the run was made for."""
        video: bool = True
        tensorboard: bool = False
        """Log there too from now on; a run that did so before goes on."""
        wandb: bool = False

    given = _parse(Resume, "resume", args)
    from sfm.run import reopen

    return _run(reopen(given.run, steps=given.steps), given.video, given.tensorboard, given.wandb)


def _fork(args: Sequence[str]) -> int:
    from tyro.conf import Positional

    @dataclass(frozen=True)
    class Fork:
        """Go on with a copy of a run, with other settings: `sfm fork RUN NEW n_step=1 steps=200000`.

        What is learned, replay and log are taken over, so networks and replay must keep their sizes.
        """

        run: Positional[Path]
        """The run folder to copy from."""
        new: Positional[Path]
        """The folder of the new run."""
        settings: Positional[tuple[str, ...]]
        """name=value, by a name that only one setting has or by its whole path: learner.lr_actor=1e-4."""
        video: bool = True

    given = _parse(Fork, "fork", args)
    from sfm import api
    from sfm.run import fork, reopen

    old = reopen(given.run)
    changed = api.overridden(old.config, dict(map(api.setting, given.settings)))
    return _run(fork(old, given.new, changed, print), given.video, False, False)


def _run(run: Any, video: bool, tensorboard: bool, wandb: bool) -> int:
    from sfm.progress import Progress

    with Progress(run.config, run.folder) as progress:
        finished = run.train(progress, tensorboard=tensorboard, wandb=wandb)
    if not finished:
        print(f"stopped and saved; go on with: sfm resume {run.folder}")
        return 130
    return _report(run.folder, max(20, run.config.schedule.eval_episodes), video, None)


def _eval(args: Sequence[str]) -> int:
    from tyro.conf import Positional

    @dataclass(frozen=True)
    class Eval:
        """Evaluate the checkpoint policy of a run, draw its learning curve, record an mp4 and a gif."""

        run: Positional[Path]
        """The run folder; with --random, a task."""
        episodes: int = 10
        seed: int | None = None
        """Which seed's policy, in a run of several; default: all."""
        video: bool = True
        random: bool = False
        """Evaluate uniform random actions on a task, to compare with."""

    given = _parse(Eval, "eval", args)
    if given.episodes < 1:
        raise SfmError("--episodes must be at least 1")
    if (given.seed or 0) < 0:
        raise SfmError("--seed must not be negative")
    if given.random:
        from sfm import api

        mine = api.random_returns(str(given.run), given.episodes, given.seed or 0)
        print(f"random actions: return {_summary(mine)}")
        return 0
    return _report(given.run, given.episodes, given.video, given.seed)


def _report(folder: Path, episodes: int, video: bool, seed: int | None) -> int:
    from sfm import api
    from sfm.evaluation.scores import normalised
    from sfm.run import reopen

    returns = api.finish(folder, episodes=episodes, video=video, seed=seed, note=print)
    expert, task = api.expert_return(folder), reopen(folder).config.task
    for number, mine in returns.items():
        close = f", {mine.mean() / expert:.0%} of the expert's {expert:.1f}" if expert else ""
        scores = normalised(task, mine)
        close += "" if scores is None else f", score {scores.mean():.2f} (0: random, 1: our expert)"
        print(f"seed {number}: return {_summary(mine)}{close}")
    return 0


def _summary(returns: Any) -> str:
    return f"{returns.mean():.1f} +- {returns.std():.1f} over {len(returns)} episodes"


# small ones


def _demos(args: Sequence[str]) -> int:
    from sfm.demos import command

    return command.main(args, collect=_collector())


def _collector() -> Callable[..., None]:
    from tyro.conf import Positional

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
            target: The .npz file to write.
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

        from sfm import storage
        from sfm.demos.files import check_new
        from sfm.demos.formats import npz_files as npz
        from sfm.envs import make
        from sfm.evaluation.collect import collect as record
        from sfm.policy import load_policy

        check_new(target, force)
        actor = load_policy(policy)
        env = make(actor.meta["task"])
        with Bar() as bar:
            task = bar.add_task("episodes", total=candidates)
            demos, made = record(env, actor, count, candidates, seed, lambda n: bar.update(task, completed=n))
        npz.save(target, demos, provenance=storage.to_json(made))
        print(f"wrote {target}: returns {', '.join(f'{r:.1f}' for r in made['returns'])}")
        print(f"all {candidates}: {made['all_returns_mean']:.1f} +- {made['all_returns_std']:.1f}")

    return collect


def _presets(args: Sequence[str]) -> int:
    @dataclass(frozen=True)
    class Presets:
        """List the named configurations; `sfm train --preset NAME --help` shows all of one."""

    _parse(Presets, "presets", args)
    for name, config in PRESETS.items():
        s = config.schedule
        source = {"nothing": "the reward", "states": "states", "actions": "states and actions"}[config.needs]
        print(
            f"{name:20} gamma {config.gamma}, batch {s.batch}, {s.steps:,} steps, "
            f"{s.updates_per_step:g} updates per step, from {source}"
            f"{'  (default)' if name == DEFAULT else ''}"
        )
    return 0


def _tasks(args: Sequence[str]) -> int:
    @dataclass(frozen=True)
    class Tasks:
        """List the bundled tasks. dm_control's other tasks and Gymnasium ids work by name, too."""

    _parse(Tasks, "tasks", args)
    from sfm.envs import TASKS

    print("\n".join(TASKS))
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "train": _train,
    "resume": _resume,
    "fork": _fork,
    "eval": _eval,
    "demos": _demos,
    "presets": _presets,
    "tasks": _tasks,
}


def _value_of(option: str, args: Sequence[str]) -> str | None:
    """The value of an option, before the parser that depends on it exists."""
    for i, arg in enumerate(args):
        if arg == option and i + 1 < len(args):
            return args[i + 1]
        if arg.startswith(f"{option}="):
            return arg.removeprefix(f"{option}=")
    return None


if __name__ == "__main__":
    sys.exit(main())
