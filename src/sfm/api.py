"""The library: everything the command line does, as functions."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfm.config import Config, overridden, whole
from sfm.demos import Demos, bundled
from sfm.demos import load as load_demos
from sfm.envs import Env
from sfm.envs.worlds import world
from sfm.errors import SfmError
from sfm.measure import expert_return, measure
from sfm.policy import Policy, load_policy
from sfm.presets import DEFAULT
from sfm.presets import preset as find_preset
from sfm.reporter import Reporter, Silent
from sfm.run import Run, create, reopen
from sfm.run import fork as fork_run
from sfm.training.logs import check_extras

if TYPE_CHECKING:
    from sfm.evaluation.evaluate import Judged

__all__ = ["Result", "expert_return", "finish", "fork", "measure", "random_returns", "resume", "train"]


class Result(NamedTuple):
    """What training leaves."""

    folder: Path
    policy: Policy  # the kept policy of the first seed
    rows: list[dict[str, Any]]  # the log
    finished: bool  # False: stopped early; `resume(folder)` goes on
    config: Config

    @property
    def returns(self) -> dict[int, float]:
        """The last evaluation of each seed's kept policy."""
        return {row["seed"]: row["eval/kept"] for row in self.rows if "eval/kept" in row}


def train(
    env: Any = None,
    demos: str | Path | Demos | np.ndarray | Sequence[np.ndarray] | None = None,
    preset: str | None = None,
    *,
    config: Config | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    demo: int | None = None,
    folder: str | Path | None = None,
    force: bool = False,
    progress: bool = True,
    reporter: Reporter | None = None,
    tensorboard: bool = False,
    wandb: bool = False,
    **overrides: Any,
) -> Result:
    """Train a policy that behaves like the demonstrations.

    env: a task name, a robot's MJCF file, a Gymnasium id, `module:Id-v0`, a Gymnasium environment (copied by
    its spec, since several are needed), or a class or function that makes one or an `sfm.envs.Env`; None: the
    task of `config`.
    env_kwargs: what it is made with.
    demos: a path, `Demos`, states [T+1, o] or [N, T+1, o], or a list of arrays; None: the bundled one.
    preset: a named configuration to start from; None: the default, or `config`, a whole configuration.
    demo: use only this one of several demonstrations, counted from 0.
    force: train although the demonstrations do not fit the environment.
    progress: show how it goes; `reporter` is told instead, where there is one.
    overrides: fields of `Config` by their dotted path with `__` for the dot, or by their bare name where
    only one place has it: `steps=20_000`, `learner__lr_actor=1e-3`.
    """
    if any(isinstance(given, str) and not given for given in (preset, demos, folder)):
        raise SfmError("preset, demos and folder must not be empty: leave out what is not meant")
    if config is not None and preset is not None:
        raise SfmError("give a preset or a whole config, not both")
    base = overridden(config or find_preset(DEFAULT if preset is None else preset), overrides)
    if (env := base.task if env is None else env) == "":
        raise SfmError("which task? Give it as env, or in config")
    check_extras(tensorboard, wandb)
    arguments = base.env_arguments if env_kwargs is None else env_kwargs
    remembered = _as_json(arguments)
    found_world = world(env, arguments)
    asked = dataclasses.replace(base, task=found_world.name, env_kwargs=remembered)
    found, provenance = find_demos(demos, asked, demo)
    told = _told(reporter, progress)

    def examine(demos: Demos, env: Env, config: Config) -> None:
        from sfm.demos.doctor.before import before_training

        before_training(demos, env, config, told.note, force)

    place = Path(folder) if folder else None
    run = create(place, asked, found, found_world, provenance, None if demos is None else examine)
    return _train(run, told, tensorboard, wandb)


def resume(
    folder: str | Path,
    *,
    env: Any = None,
    steps: int | None = None,
    progress: bool = True,
    reporter: Reporter | None = None,
    tensorboard: bool = False,
    wandb: bool = False,
) -> Result:
    """Go on with a run that was stopped or killed, up to `steps` if given."""
    check_extras(tensorboard, wandb)
    run = reopen(Path(folder), env, None if steps is None else whole(steps, "steps"))
    return _train(run, _told(reporter, progress), tensorboard, wandb)


def fork(
    source: str | Path,
    folder: str | Path,
    changes: Mapping[str, Any] | None = None,
    *,
    env: Any = None,
    progress: bool = True,
    reporter: Reporter | None = None,
    **overrides: Any,
) -> Result:
    """Go on with a copy of a run, in another folder, with settings changed: by dotted name, or as in `train`.

    What is learned, replay and log are taken over, so networks and replay must keep their sizes.
    """
    old, told = reopen(Path(source), env), _told(reporter, progress)
    config = overridden(old.config, {**(changes or {}), **overrides})
    return _train(fork_run(old, Path(folder), config, told.note), told, False, False)


def _as_json(arguments: Mapping[str, Any]) -> str:
    """What an environment is made with, as a run remembers it."""
    try:
        return json.dumps(dict(arguments), default=lambda x: x.tolist(), allow_nan=False) if arguments else ""
    except (TypeError, ValueError, AttributeError) as error:
        raise SfmError(
            "env_kwargs must be a dict of what JSON can say, for a run remembers it; else give a function "
            f"that makes the environment: {error}"
        ) from error


def _told(reporter: Reporter | None, progress: bool) -> Reporter:
    """Who is told how it goes."""
    if reporter is None and progress:
        from sfm.progress import Progress

        return Progress()
    return reporter or Silent()


def _train(run: Run, reporter: Reporter, tensorboard: bool, wandb: bool) -> Result:
    finished = run.train(reporter, tensorboard=tensorboard, wandb=wandb)
    return Result(run.folder, load_policy(run.folder), run.rows, finished, run.config)


def find_demos(demos: Any, config: Config, index: int | None = None) -> tuple[Demos | None, dict[str, Any]]:
    """Demonstrations in whatever form they were given, and where they come from.

    `index` picks one of several; by default all that were given are used, and the first of the bundled ones.
    """
    provenance: dict[str, Any] = {}
    if demos is None:
        demos = None if config.needs == "nothing" else bundled.bundled(config.task)
        if demos is None:
            return None, {}
        provenance, index = bundled.provenance(config.task), index or 0
    elif isinstance(demos, (str, Path)):
        demos, provenance = load_demos(demos), {"source": str(demos)}
    elif not isinstance(demos, Demos):
        demos = Demos.from_list(_each(demos))
    if index is None:
        return demos, provenance
    if not 0 <= index < len(demos.length):
        raise SfmError(f"there is no demonstration {index}: there are {len(demos.length)}, counted from 0")
    if "returns" in provenance:
        provenance = {**provenance, "returns": [provenance["returns"][index]]}
    return demos.only(index), {**provenance, "index": index}


def _each(demos: Any) -> list[Any]:
    """One array of states [T+1, o], several in one [N, T+1, o], or a list or tuple of single ones."""
    if isinstance(demos, list | tuple):
        first = np.ndim(demos[0]) if len(demos) and not isinstance(demos[0], list | tuple) else 2
        return list(demos) if first != 1 else [demos]
    if not hasattr(demos, "__array__"):
        raise SfmError(
            f"demos must be a path, Demos, an array of states or a list of them, not {type(demos).__name__}"
        )
    return list(demos) if np.ndim(demos) == 3 else [demos]


def random_returns(
    task: str, episodes: int = 10, seed: int = 0, env_kwargs: Mapping[str, Any] | None = None
) -> np.ndarray:
    """Returns [episodes] of uniform random actions on a task, from the starts that `evaluate` uses."""
    from sfm.evaluation.evaluate import evaluate, random_policy

    env = world(task, env_kwargs).make()
    returns = evaluate(env, random_policy(env.action_dim, seed), episodes, seed)
    env.close()
    return returns


def finish(
    run: Path, *, episodes: int, video: bool, seed: int | None = None, note: Callable[[str], None]
) -> dict[int, "Judged"]:
    """Evaluate a run's kept policies, draw its curve and record a video. What each seed's was like."""
    return measure(run, episodes=episodes, video=video, seed=seed, note=note).judged
