"""A run on disk: its folder, its log, its checkpoints, and what it leaves at the end.

RUN/config.json              what was asked for
RUN/demos.npz                the demonstrations it imitates
RUN/env.json                 how the environment is made again, where its name does not say it all
RUN/robot.zip                the robot's MJCF file with all that it needs, where the task is one
RUN/start.safetensors        the policy it begins with, where it was given one
RUN/metrics.jsonl            a row per seed and round, and one per evaluation
RUN/history.jsonl            when, where and with what it was trained
RUN/checkpoints/             the two newest resumable states
RUN/policies/                kept_seed0.safetensors, current_seed0.safetensors
RUN/curve.png, video.mp4, video.gif
RUN/.lock                    held by the process that trains it
"""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfm import folders, history, storage
from sfm.config import Config, RobotConfig, flat, from_dict, to_dict
from sfm.demos import Demos
from sfm.demos.formats import npz_files as npz
from sfm.demos.matching import check_fit
from sfm.demos.types import check_actions
from sfm.envs import Env
from sfm.envs.base import rewarded
from sfm.envs.repeat import automatic, repeated
from sfm.envs.signals import action_names, obs_names
from sfm.envs.worlds import World, again
from sfm.envs.worlds import world as find_world
from sfm.errors import SfmError
from sfm.policy import differences, find_policy, load_policy, networks, policy_path, save_policy
from sfm.reporter import Reporter
from sfm.robots import ROBOT, keep, placed
from sfm.stopping import stop_signals
from sfm.training.checkpoint import Checkpoints
from sfm.training.clock import check_learns
from sfm.training.jax_setup import set_up
from sfm.training.logs import Logs, open_logs, read_rows

START = "start.safetensors"
ENV = "env.json"
KEPT = ("task", "env_kwargs", "seed", "seeds", "warm_start", "action_repeat", "schedule.envs")  # in a fork
KEPT += tuple(f"robot.{f.name}" for f in dataclasses.fields(RobotConfig))


class Run:
    def __init__(self, folder: Path, config: Config, demos: Demos | None, world: World | None = None):
        """`world`: by default what the configuration names."""
        self.folder, self.config, self.demos = Path(folder), config, demos
        self.world = world or _named(config, demos, self.folder)
        self.checkpoints = Checkpoints(self.folder / "checkpoints")
        self.rows: list[dict[str, Any]] = []

    def make_env(self) -> Env:
        """The environment of the run, in which a step is a decision."""
        return repeated(self.world.make(), self.config.action_repeat)

    @property
    def decisions(self) -> Demos | None:
        """The demonstrations in the steps of that environment."""
        return self.demos and self.demos.thinned(self.config.action_repeat)

    def train(self, reporter: Reporter, *, tensorboard: bool = False, wandb: bool = False) -> bool:
        """Train from the newest checkpoint or the start; False if it was asked to stop before the end."""
        reporter.begin(self.folder, self.config)
        try:
            if self.demos is None and self.config.needs != "nothing":
                where = self.folder / "demos.npz"
                raise SfmError(f"{where} is missing: a run keeps the demonstrations it imitates there")
            with folders.alone(self.folder), history.noted(self.folder) as noted:
                begins = self.config.begins_with_policy
                training = self.training(networks(self.folder / START) if begins else None)
                logs = open_logs(self.folder, tensorboard, wandb, to_dict(self.config))
                if self.checkpoints.steps():
                    self._restore(training, logs, reporter)
                elif read_rows(logs.jsonl.path):
                    logs.jsonl.truncate(lambda row: False)
                    reporter.note(f"{self.folder} had not saved a checkpoint yet: it starts over")
                self._rounds(training, logs, reporter)
                noted["finished"] = training.done
        finally:
            reporter.end()
        self.rows = read_rows(logs.jsonl.path)
        return training.done

    def _rounds(self, training: Any, logs: Logs, reporter: Reporter) -> None:
        """Until the end, or until asked to stop; saves now and then, and the last one."""
        saved = time.monotonic()
        with stop_signals(reporter.note) as asked, contextlib.closing(logs):
            for rows in training.rounds(lambda: asked.for_long()):
                for row in rows:
                    logs.write(row)
                if rows:
                    reporter.round(rows, self.config)
                last = training.done or asked.at_all()
                if last or time.monotonic() - saved >= self.config.schedule.save_seconds:
                    step = max(p.steps for p in training.progress)
                    self.checkpoints.save(step, training.arrays(), training.meta())
                    self._save_policies(training)
                    saved = time.monotonic()
                if last:
                    break

    def _save_policies(self, training: Any) -> None:
        env = training.experience.env
        shown = {
            "obs_shape": getattr(env, "obs_shape", [env.obs_dim]),
            "action_shape": list(getattr(env, "action_shape", [env.action_dim])),
            "obs_names": obs_names(env),
            "action_names": action_names(env),
            "control_timestep": env.control_timestep / self.config.action_repeat,
            "env": self.world.record,
        }
        for i, p in enumerate(training.progress):
            for which in ("kept", "current"):
                save_policy(
                    policy_path(self.folder, which, p.seed),
                    getattr(training.policies, which)[i],
                    self.config,
                    task=self.config.task,
                    preset=self.config.preset,
                    seed=p.seed,
                    steps=p.kept_steps if which == "kept" else p.steps,
                    updates=p.kept_updates if which == "kept" else p.updates,
                    obs_dim=env.obs_dim,
                    action_dim=env.action_dim,
                    action_low=env.low.tolist(),
                    action_high=env.high.tolist(),
                    action_repeat=self.config.action_repeat,
                    **shown,
                )

    def training(self, beginning: Any = None) -> Any:
        """The run in memory, at its start."""
        set_up(self.config)
        from sfm.training.loop import Training  # imports JAX

        return Training(self.config, self.make_env, self.decisions, beginning)

    def _restore(self, training: Any, logs: Logs, reporter: Reporter) -> None:
        step, arrays, meta, warnings = self.checkpoints.load()
        for warning in warnings:
            reporter.note(warning)
        training.restore(arrays, meta)
        self._save_policies(training)  # it may have been stopped between its checkpoint and these
        # What was logged after the checkpoint goes; an evaluation of a later round may judge this very step.
        rounds, judged = training.logged()
        logs.jsonl.truncate(
            lambda row: row["step"] <= (judged if "eval/kept" in row else rounds).get(row["seed"], -1)
        )
        reporter.note(f"resumed {self.folder} at step {step:,}")
        if training.done:
            done = f"its {self.config.schedule.steps:,} steps are done, so nothing is trained"
            reporter.note(f"{done}; more of them go on: resume with --steps N, or fork with steps=N")


def create(
    folder: Path | None,
    config: Config,
    demos: Demos | None,
    world: World | None = None,
    provenance: dict[str, Any] | None = None,
    examine: Callable[[Demos, Env, Config], None] | None = None,
) -> Run:
    """Make the run folder, after checking that what was asked for fits together, `examine` included.

    No folder: a new one under runs/.
    """
    if folder is not None:
        folders.unused(folder)
    world = placed(world, config, demos) if world else _named(config, demos)
    spare = [world.make()]  # it tells the dimensions now and is the first environment of training
    if config.action_repeat == 0:
        config = dataclasses.replace(config, action_repeat=automatic(spare[0].control_timestep))
    if config.needs == "nothing" and not rewarded(spare[0]):
        raise SfmError(f"{config.task} has no reward to learn from: choose a preset that imitates")
    if demos is not None:
        check_fit(config, demos, spare[0])
        if (shortest := int(demos.length.min())) < config.action_repeat:
            raise SfmError(
                f"a demonstration of {shortest} steps is shorter than one decision: action_repeat is "
                f"{config.action_repeat}"
            )
    elif config.needs != "nothing":
        raise SfmError(f"no demonstrations for '{config.task}': give some with --demos PATH")
    if demos is not None and config.needs == "actions":
        who = "--warm-start bc" if config.warm_start == "bc" else config.preset or config.objective.kind
        check_actions(demos, spare[0].action_dim, who)
    check_learns(config, spare[0])
    if demos is not None and examine is not None:
        examine(demos, spare[0], config)
    beginning = _beginning(config, spare[0]) if config.begins_with_policy else None
    folder = Path(folder) if folder is not None else folders.fresh(config)
    with folders.taken(folder):
        if demos is not None:
            npz.save(folder / "demos.npz", demos, provenance=storage.to_json(provenance or {}))
        keep(config, folder)
        if beginning is not None:
            storage.write_bytes(folder / START, beginning.read_bytes())
        if world.record is not None:
            storage.write_json(folder / ENV, world.record)
        storage.write_json(folder / "config.json", to_dict(config))
    return Run(folder, config, demos, world._replace(make=lambda: spare.pop() if spare else world.make()))


def _named(config: Config, demos: Demos | None, folder: Path | None = None) -> World:
    """What the configuration names."""
    return placed(find_world(config.task, config.env_arguments), config, demos, folder)


def _beginning(config: Config, env: Env) -> Path:
    """The file of the policy that a run begins with, whose networks must be those of the run."""
    path = find_policy(config.warm_start)
    policy, sizes = load_policy(path), (env.obs_dim, env.action_dim)
    if (policy.obs_dim, policy.action_dim) != sizes:
        raise SfmError(
            f"the policy {config.warm_start} sees {policy.obs_dim} numbers and gives {policy.action_dim}, "
            f"the environment has {sizes[0]} and {sizes[1]}"
        )
    if others := differences(policy, config):
        raise SfmError(
            f"the policy {config.warm_start} has other networks than this run would have: {', '.join(others)}"
        )
    return path


def reopen(folder: Path, env: Any = None, steps: int | None = None) -> Run:
    """A run made earlier, with another step budget if `steps` is given; `env` as in `api.train`."""
    folder = Path(folder)
    if not os.path.isfile(folder / "config.json"):
        raise SfmError(f"{folder} is not a run folder: it has no config.json")
    config = from_dict(Config, storage.read_json(folder / "config.json"))
    path = folder / "demos.npz"
    demos = npz.load(path) if path.exists() else None
    if env is not None:
        world = find_world(env, config.env_arguments if isinstance(env, str) else None)
        world = placed(world, config, demos)
    else:
        record = storage.read_json(folder / ENV) if (folder / ENV).exists() else None
        world = placed(again(config.task, config.env_arguments, record), config, demos, folder)
    run = Run(folder, config, demos, world)
    if steps is not None:
        _check_ahead(run, steps)
        run.config = dataclasses.replace(config, schedule=dataclasses.replace(config.schedule, steps=steps))
        storage.write_json(folder / "config.json", to_dict(run.config))
    return run


def fork(source: Run, folder: Path, config: Config, note: Callable[[str], None]) -> Run:
    """A new run that goes on from where `source` is, with what it has learned, seen and logged.

    `note` is told of damaged checkpoints that an earlier one stands in for.
    """
    folder = folders.unused(folder)
    before, after = (dict(flat(to_dict(c))) for c in (source.config, config))
    if changed := [name for name in KEPT if before[name] != after[name]]:
        raise SfmError(
            f"a fork keeps {', '.join(KEPT)}; {changed[0]} is {before[changed[0]]} in {source.folder}"
        )
    _check_ahead(source, config.schedule.steps)
    step, arrays, meta, warnings = source.checkpoints.load()
    for warning in warnings:
        note(warning)
    run = Run(folder, config, source.demos, source.world)
    run.training().restore(arrays, meta)  # an error, and nothing written, if it cannot go on from there
    with folders.taken(folder):
        run.checkpoints.save(step, arrays, meta)
        for name in ("demos.npz", ROBOT, START, ENV, "metrics.jsonl", "policies/*"):
            for path in source.folder.glob(name):
                storage.write_bytes(folder / path.relative_to(source.folder), path.read_bytes())
        storage.write_json(folder / "config.json", to_dict(config))
    return run


def _check_ahead(run: Run, steps: int) -> None:
    done = max(run.checkpoints.steps(), default=0)
    if steps < done and steps != run.config.schedule.steps:  # the last round of a run may go beyond its steps
        raise SfmError(f"{run.folder} is at step {done:,} already: --steps {steps:,} lies behind it")
