"""The library: everything the command line does, as functions."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfm import storage
from sfm.config import Config, overridden
from sfm.demos import Demos, bundled
from sfm.demos import load as load_demos
from sfm.envs.worlds import world
from sfm.errors import SfmError
from sfm.policy import Policy, load_policy
from sfm.presets import DEFAULT
from sfm.presets import preset as find_preset
from sfm.reporter import Reporter, Silent
from sfm.run import Run, create, reopen
from sfm.run import fork as fork_run
from sfm.training.logs import check_extras

if TYPE_CHECKING:
    from sfm.evaluation.evaluate import Judged


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
    demos: str | Path | Demos | np.ndarray | list[np.ndarray] | None = None,
    preset: str | None = None,
    *,
    config: Config | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    demo: int | None = None,
    folder: str | Path | None = None,
    reporter: Reporter | None = None,
    tensorboard: bool = False,
    wandb: bool = False,
    **overrides: Any,
) -> Result:
    """Train a policy that behaves like the demonstrations.

    env: a task name, a Gymnasium id, `module:Id-v0`, a Gymnasium environment (copied by its spec, since
    several are needed), or a class or function that makes one or an `sfm.envs.Env`; None: the task of
    `config`.
    env_kwargs: what it is made with.
    demos: a path, `Demos`, one array of states [T+1, o] or a list of them; None: the bundled one.
    preset: a named configuration to start from; None: `fast`, or `config`, which is a whole configuration.
    demo: use only this one of several demonstrations, counted from 0.
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
    found_world = world(env, arguments)
    whole = dataclasses.replace(
        base, task=found_world.name, env_kwargs=storage.to_json(arguments) if arguments else ""
    )
    found, provenance = find_demos(demos, whole, demo)
    run = create(Path(folder) if folder else None, whole, found, found_world, provenance)
    return _train(run, reporter or Silent(), tensorboard, wandb)


def resume(
    folder: str | Path,
    *,
    env: Any = None,
    steps: int | None = None,
    reporter: Reporter | None = None,
    tensorboard: bool = False,
    wandb: bool = False,
) -> Result:
    """Go on with a run that was stopped or killed, up to `steps` if given."""
    check_extras(tensorboard, wandb)
    return _train(reopen(Path(folder), env, steps), reporter or Silent(), tensorboard, wandb)


def fork(
    source: str | Path,
    folder: str | Path,
    changes: Mapping[str, Any] | None = None,
    *,
    env: Any = None,
    reporter: Reporter | None = None,
    **overrides: Any,
) -> Result:
    """Go on with a copy of a run, in another folder, with settings changed: by dotted name, or as in `train`.

    What is learned, replay and log are taken over, so networks and replay must keep their sizes.
    """
    old, told = reopen(Path(source), env), reporter or Silent()
    config = overridden(old.config, {**(changes or {}), **overrides})
    return _train(fork_run(old, Path(folder), config, told.note), told, False, False)


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
        demos = Demos.from_list(demos if isinstance(demos, list) else [demos])
    if index is None:
        return demos, provenance
    if not 0 <= index < len(demos.length):
        raise SfmError(f"there is no demonstration {index}: there are {len(demos.length)}, counted from 0")
    if "returns" in provenance:
        provenance = {**provenance, "returns": [provenance["returns"][index]]}
    return demos.only(index), {**provenance, "index": index}


def expert_return(folder: Path) -> float | None:
    """The demonstrations' mean return, where their provenance tells it."""
    path = Path(folder) / "demos.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as data:
        text = str(data["provenance"]) if "provenance" in data.files else "{}"
    returns = json.loads(text).get("returns")
    return float(np.mean(returns)) if returns else None


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
    from sfm.evaluation import curve
    from sfm.evaluation import video as film
    from sfm.evaluation.evaluate import judge
    from sfm.evaluation.scores import reference
    from sfm.training.likeness import likeness_to
    from sfm.training.logs import read_rows
    from sfm.training.rollout import VIDEO, reset_seed

    opened = reopen(run)
    config, env = opened.config, opened.make_env()
    seeds = range(config.seed, config.seed + config.seeds) if seed is None else [seed]
    policies = {s: load_policy(run, seed=s) for s in seeds}
    alike = likeness_to(demos, [env]) if (demos := opened.decisions) else None
    judged = {s: judge(env, policy, episodes, s, alike) for s, policy in policies.items()}
    try:
        rows = read_rows(Path(run) / "metrics.jsonl")
        title, scale = f"{config.task}, {config.preset}", reference(config.task)
        levels = {"expert": expert_return(run), "random": scale.random if scale else None}
        curve.plot(rows, Path(run) / "curve.png", title=title, **levels)
        note(f"curve  {Path(run) / 'curve.png'}")
        if video:
            best = max(judged, key=lambda s: judged[s].returns.mean())
            for path in film.record(env, policies[best], Path(run), seed=reset_seed(best, VIDEO, 0)):
                note(f"video  {path}")
    except SfmError as error:  # the evaluation is worth showing without pictures
        note(f"no picture: {error}")
    env.close()
    return judged
