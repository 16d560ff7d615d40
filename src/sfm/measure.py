"""What is measured of policies when training has ended, or when asked for: returns, a curve, a video."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfm import storage
from sfm.demos import Demos
from sfm.demos.formats import npz_files
from sfm.demos.matching import aligned, matched
from sfm.envs import Env
from sfm.envs.base import as_mujoco
from sfm.envs.repeat import repeated
from sfm.errors import SfmError
from sfm.evaluation.scores import normalised
from sfm.policy import Policy, find_policy, load_policy
from sfm.robots import remembered
from sfm.run import Run, reopen

if TYPE_CHECKING:
    from sfm.evaluation.evaluate import Judged
    from sfm.training.likeness import Likeness

MEASURED = "eval.json"
GAIT_EPISODES = 3
Note = Callable[[str], None]


class Measured(NamedTuple):
    """What was measured, in words and numbers, and as such."""

    told: dict[str, Any]  # what eval.json has
    judged: dict[int, "Judged"]  # by seed


class Subject(NamedTuple):
    """Whom to evaluate, and in what."""

    task: str
    env: Env
    policies: dict[int, Policy]  # by seed
    run: Run | None  # None: a policy without its run
    expert: float | None  # the demonstrations' return, where it is known
    demos: Demos | None  # by which likeness is told


def measure(
    what: str | Path,
    *,
    episodes: int,
    video: bool,
    seed: int | None = None,
    out: str | Path | None = None,
    note: Note = lambda message: None,
) -> Measured:
    """Evaluate the kept policies of a run, a policy file or a bundled expert; what was measured.

    The same is written to `eval.json`, beside a curve and a video, in the run's folder or in `out`. Without
    both nothing is written.
    """
    subject = _subject(what, seed)
    folder = Path(out) if out is not None else subject.run and subject.run.folder
    if folder is not None and not folder.is_dir():
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise storage.cannot_write(folder, error) from error
    from sfm.evaluation.evaluate import judge

    alike = _likeness(subject)
    judged = {s: judge(subject.env, policy, episodes, s, alike) for s, policy in subject.policies.items()}
    best = max(judged, key=lambda s: judged[s].merit)
    gaits = _gaits(subject, note)
    told = {
        "evaluated": str(what),
        "task": subject.task,
        "episodes": episodes,
        "expert_return": subject.expert,
        "demonstration": gaits.get(None),
        "seeds": [_of_seed(subject, s, found) | gaits.get(s, {}) for s, found in judged.items()],
        "video_seed": None,
    }
    if folder is not None:
        try:
            _pictures(subject, folder, best if video else None, note)
            told["video_seed"] = best if video else None
        except SfmError as error:  # the evaluation is worth showing without pictures
            note(f"no picture: {error}")
        storage.write_json(folder / MEASURED, told)
    subject.env.close()
    return Measured(told, judged)


def expert_return(folder: Path) -> float | None:
    """The demonstrations' mean return, where it is known."""
    path = Path(folder) / "demos.npz"
    returns = npz_files.load(path).returns if path.exists() else None
    return None if returns is None else float(returns.mean())


def _subject(what: str | Path, seed: int | None) -> Subject:
    if os.path.isdir(what):
        opened = reopen(Path(what))
        first = opened.config.seed
        seeds = range(first, first + opened.config.seeds) if seed is None else [seed]
        policies = {s: load_policy(what, seed=s) for s in seeds}
        expert, demos = expert_return(opened.folder), opened.decisions
        return Subject(opened.config.task, opened.make_env(), policies, opened, expert, demos)
    policy = load_policy(find_policy(what))
    env = repeated(remembered(policy.meta).make(), policy.action_repeat)
    starts = policy.meta.get("seed", 0) if seed is None else seed
    return Subject(policy.meta["task"], env, {starts: policy}, None, None, None)


def _of_seed(subject: Subject, seed: int, found: "Judged") -> dict[str, Any]:
    returns = found.returns
    rewarded = not np.isnan(returns).all()
    scores, expert = normalised(subject.task, returns), subject.expert
    return {
        "seed": seed,
        "steps": subject.policies[seed].meta.get("steps"),
        "return": returns.mean() if rewarded else None,
        "std": returns.std() if rewarded else None,
        "of_expert": returns.mean() / expert if rewarded and expert and expert > 0 else None,
        "score": None if scores is None else scores.mean(),
        "likeness": found.likeness if math.isfinite(found.likeness) else None,
        "returns": returns,
    }


def _likeness(subject: Subject) -> "Likeness | None":
    from sfm.training.likeness import likeness_to

    if subject.run is None or subject.demos is None:
        return None
    part = matched(subject.demos, subject.run.config.match, subject.env)
    return likeness_to(aligned(subject.demos, subject.env), [subject.env], part)


def _gaits(subject: Subject, note: Note) -> dict[int | None, dict[str, float | None]]:
    """Strides and speed by seed, and of the demonstration (None), where their simulation is known."""
    if subject.demos is None or not as_mujoco(subject.env):
        return {}
    from sfm.evaluation import gait

    found: dict[int | None, gait.Gait] = {}
    if subject.demos.qpos is not None:
        found[None] = gait.of_demos(subject.demos, subject.env)
    for s, policy in subject.policies.items():
        found[s] = gait.of_policy(subject.env, policy, GAIT_EPISODES, s)
    for s, its in found.items():
        note(f"gait   {'the demonstration' if s is None else f'seed {s}'}: {its.words}")
    return {s: its._asdict() for s, its in found.items()}


def _pictures(subject: Subject, folder: Path, seed: int | None, note: Note) -> None:
    """The curve, where there is a run, and a video of one seed's policy, if asked for."""
    from sfm.evaluation import curve, video
    from sfm.evaluation.playback import Playback
    from sfm.evaluation.scores import reference
    from sfm.training.logs import read_rows
    from sfm.training.rollout import VIDEO, reset_seed

    if subject.run is not None:
        config, scale = subject.run.config, reference(subject.task)
        levels = {"expert": subject.expert, "random": scale.random if scale else None}
        rows, title = read_rows(subject.run.folder / "metrics.jsonl"), f"{config.task}, {config.preset}"
        curve.plot(rows, folder / "curve.png", title=title, **levels)
        note(f"curve  {folder / 'curve.png'}")
    if seed is not None:
        start = reset_seed(seed, VIDEO, 0)
        beside = subject.run and Playback.of(subject.demos, subject.run.make_env())
        right = "; right: the demonstration" if beside else ""
        for path in video.record(subject.env, subject.policies[seed], folder, seed=start, beside=beside):
            note(f"video  {path} (seed {seed}{right})")
