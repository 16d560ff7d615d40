"""The library: everything the command line does, as functions."""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfm.config import Config, overridden
from sfm.demos import Demos, bundled
from sfm.demos import load as load_demos
from sfm.demos.matching import aligned, matched
from sfm.envs import Env, is_robot, make
from sfm.envs.base import as_mujoco
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

GAIT_EPISODES = 3


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
    env: str | Callable[[], Env] | None = None,
    demos: str | Path | Demos | np.ndarray | list[np.ndarray] | None = None,
    preset: str | None = None,
    *,
    config: Config | None = None,
    demo: int | None = None,
    folder: str | Path | None = None,
    reporter: Reporter | None = None,
    tensorboard: bool = False,
    wandb: bool = False,
    **overrides: Any,
) -> Result:
    """Train a policy that behaves like the demonstrations.

    env: a task name, a Gymnasium id, or a function that makes an `sfm.envs.Env`; None: the task of `config`.
    demos: a path, `Demos`, one array of states [T+1, o] or a list of them; None: the bundled one.
    preset: a named configuration to start from; None: `fast`, or `config`, which is a whole configuration.
    demo: use only this one of several demonstrations, counted from 0.
    overrides: fields of `Config` by their dotted path with `__` for the dot, or by their bare name where
    only one place has it: `steps=20_000`, `learner__lr_actor=1e-3`.
    """
    if config is not None and preset is not None:
        raise SfmError("give a preset or a whole config, not both")
    base = overridden(config or find_preset(preset or DEFAULT), overrides)
    env = base.task if env is None else env
    if env == "":
        raise SfmError("which task? Give it as env, or in config")
    if not (isinstance(env, str) or callable(env)):
        raise SfmError(
            "env must be a task name, a Gymnasium id or a function that makes an sfm.envs.Env, "
            f"not a {type(env).__name__}; a registered Gymnasium environment goes by its id"
        )
    check_extras(tensorboard, wandb)
    name = env if isinstance(env, str) else getattr(env, "__name__", "custom")
    whole = dataclasses.replace(base, task=name)
    found, provenance = find_demos(demos, whole, demo)
    place = Path(folder) if folder else default_folder(whole)
    run = create(place, whole, found, None if isinstance(env, str) else env, provenance)
    return _train(run, reporter or Silent(), tensorboard, wandb)


def resume(
    folder: str | Path,
    *,
    env: Callable[[], Env] | None = None,
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
    env: Callable[[], Env] | None = None,
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


def default_folder(config: Config) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    task = Path(config.task).stem if is_robot(config.task) else config.task.replace("/", "-")
    return Path("runs") / f"{task}_{config.preset}_seed{config.seed}_{stamp}"


def expert_return(folder: Path) -> float | None:
    """The demonstrations' mean return, where their provenance tells it."""
    path = Path(folder) / "demos.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as data:
        text = str(data["provenance"]) if "provenance" in data.files else "{}"
    returns = json.loads(text).get("returns")
    return float(np.mean(returns)) if returns else None


def random_returns(task: str, episodes: int = 10, seed: int = 0) -> np.ndarray:
    """Returns [episodes] of uniform random actions on a task, from the starts that `evaluate` uses."""
    from sfm.evaluation.evaluate import evaluate, random_policy

    env = make(task)
    returns = evaluate(env, random_policy(env.action_dim, seed), episodes, seed)
    env.close()
    return returns


def finish(
    run: Path, *, episodes: int, video: bool, seed: int | None = None, note: Callable[[str], None]
) -> dict[int, "Judged"]:
    """Evaluate a run's kept policies, draw its curve and record a video. What each seed's was like."""
    from sfm.evaluation import curve, gait
    from sfm.evaluation import video as film
    from sfm.evaluation.evaluate import judge
    from sfm.evaluation.playback import Playback
    from sfm.evaluation.scores import reference
    from sfm.training.likeness import likeness_to
    from sfm.training.logs import read_rows
    from sfm.training.rollout import VIDEO, reset_seed

    opened = reopen(run)
    config, env = opened.config, opened.make_env()
    seeds = range(config.seed, config.seed + config.seeds) if seed is None else [seed]
    policies = {s: load_policy(run, seed=s) for s in seeds}
    demos = opened.decisions
    part = matched(demos, config.match, env)
    alike = likeness_to(aligned(demos, env), [env], part) if demos else None
    judged = {s: judge(env, policy, episodes, s, alike) for s, policy in policies.items()}
    if demos and demos.qpos is not None and as_mujoco(env):
        note(f"gait   the demonstration: {gait.of_demos(demos, env).words}")
        for s, policy in policies.items():
            note(f"gait   seed {s}: {gait.of_policy(env, policy, GAIT_EPISODES, s).words}")
    try:
        rows = read_rows(Path(run) / "metrics.jsonl")
        title, scale = f"{config.task}, {config.preset}", reference(config.task)
        levels = {"expert": expert_return(run), "random": scale.random if scale else None}
        curve.plot(rows, Path(run) / "curve.png", title=title, **levels)
        note(f"curve  {Path(run) / 'curve.png'}")
        if video:
            best = max(judged, key=lambda s: judged[s].merit)
            beside = Playback.of(demos, opened.make_env())
            start = reset_seed(best, VIDEO, 0)
            for path in film.record(env, policies[best], Path(run), seed=start, beside=beside):
                note(f"video  {path}{'' if beside is None else '  (right: the demonstration)'}")
    except SfmError as error:  # the evaluation is worth showing without pictures
        note(f"no picture: {error}")
    env.close()
    return judged
