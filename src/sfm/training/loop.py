"""The training loop. It knows no algorithm.

    with the policies that begin the round evaluated beside it, where that is due:
        for each part of an episode:
            play it in every environment of every seed, while the updates of the part before go on
            add it to the replay and start the updates that it has earned
        assess the policies that played, where the schedule says so
        refresh what wants fresh episodes
        make the updates that are left
        keep the latest policies, where nothing is assessed
    evaluate the policies that the round leaves, where that is due or a seed has finished
    log

Where updates are slow, a run may stop between those of the end of a round, with the round half done
(`halves.py`). An offline objective has a shorter round (`offline.py`). Everything that decides the next
number is in `Training.arrays` and `Training.meta`, so that a run continues from a saved round as if it had
never stopped.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sfm.agents.agent import make_agent
from sfm.config import Config
from sfm.demos import Demos
from sfm.demos.matching import aligned, check_part, matched, observations_of
from sfm.envs import Env
from sfm.envs.base import rewarded
from sfm.training import halves, offline
from sfm.training.assess import Assessment
from sfm.training.buffer import Episodes
from sfm.training.checkpoint import flatten, unflatten
from sfm.training.clock import Clock, SeedProgress
from sfm.training.evaluator import Evaluator, Job
from sfm.training.experience import Experience
from sfm.training.halves import Half
from sfm.training.keeping import Played
from sfm.training.learn import Learning

Row = dict[str, Any]


class Training:
    """A run in memory. `rounds()` yields one list of log rows per round."""

    def __init__(
        self, config: Config, make_env: Callable[[], Env], demos: Demos | None, beginning: Any = None
    ):
        """`beginning`: the policy that every seed starts with, if any."""
        self.config, s = config, config.schedule
        self.progress = [SeedProgress(config.seed + k) for k in range(config.seeds)]
        motion = demos and demos.motion()
        self.experience = Experience(s, make_env, self.progress, config.action_repeat, motion)
        env = self.experience.env
        part = matched(demos, config.match, env)
        check_part(config, part, env)
        self.agent = make_agent(
            config, env.obs_dim, env.action_dim, env.terminates, part, observations_of(env)
        )
        known = demos and aligned(demos, env)
        plan = self.agent.objective.offline
        if not plan:
            self.experience.check_room()
        self.clock = Clock(s, self.experience.round_steps, (plan and plan.patience) or math.inf)
        self.learning = Learning(config, self.agent, self.clock, self.experience, known, beginning)
        self.policies = self.learning.policies
        self.evaluator = Evaluator(self.clock, make_env, known, part)
        self.seconds = 0.0
        self.half: Half | None = None  # a round that was stopped before its end

    @property
    def done(self) -> bool:
        return self.half is None and not self._those(self.clock.running)

    def rounds(self, stop: Callable[[], bool] = lambda: False) -> Iterator[list[Row]]:
        """Train until the step budget is used up, or until `stop`, asked within rounds, says so.

        Then the last yield has no rows, and `half` has the round to go on with.
        """
        while not self.done:
            begun = time.perf_counter() - self.seconds
            half, self.half = self.half or self._begin(), None
            with self._judging(half.jobs) as before:
                if not self._round(half, stop):
                    self.half = half
                    self.evaluator.cancel()
            if self.half:
                self.seconds = time.perf_counter() - begun
                yield []
                return
            for i, row in half.rows.items():
                self.progress[i].seconds = time.perf_counter() - begun
                row["seconds"] = round(self.progress[i].seconds, 3)
            due = [i for i in half.rows if self.clock.evaluation_due_after_round(self.progress[i])]
            with self._judging(self._jobs(due, lambda p: p.steps)) as after:
                pass
            self.seconds = time.perf_counter() - begun
            yield [*before, *half.rows.values(), *after]

    def _those(self, question: Callable[[SeedProgress], bool]) -> list[int]:
        return [i for i, p in enumerate(self.progress) if question(p)]

    def _begin(self) -> Half:
        """A round of which nothing is done, but what comes before the first."""
        if self.config.warm_start == "bc" and not any(p.steps for p in self.progress):
            offline.warm_start(self.learning, self.config.warm_start_updates)
        short = self.agent.objective.offline  # so are its rounds
        due = [] if short else self._those(self.clock.evaluation_due_beside_round)
        return Half(self._jobs(due, self.clock.round_end))

    def _jobs(self, due: list[int], step: Callable[[SeedProgress], int]) -> list[Job]:
        """Evaluations of the policies of now. `step`: for which they are made; none is made twice."""
        new = [i for i in due if self.progress[i].evaluated_at < self.progress[i].steps]
        for p in (self.progress[i] for i in due):
            p.evaluated_at, p.evaluated_for = p.steps, step(p)
        return self.evaluator.jobs(new, self.progress, self.policies)

    def _judging(self, jobs: list[Job]) -> Any:
        return self.evaluator.judging(jobs, self.progress, self.policies)

    def _round(self, half: Half, stop: Callable[[], bool]) -> bool:
        """What is left of a round; False if it was to stop before the end."""
        if plan := self.agent.objective.offline:
            half.rows = offline.study(self.learning, plan, self._those(self.clock.running))
            return True
        if not half.rows:
            half.rows = self._live(self._those(self.clock.running))
        if not self.learning.work(stop):
            return False
        self.learning.settle()
        self.learning.report(half.rows)
        if not self.config.schedule.assesses:
            for i in half.rows:
                self.policies.judge(i, self.progress[i])
        return True

    def _live(self, running: list[int]) -> dict[int, Row]:
        """All of a round but the updates that are left at its end."""
        episodes = self._collect(running)
        rows = {i: self.progress[i].row() for i in running}
        for i, e in episodes.items():
            if rewarded(self.experience.env):
                rows[i]["train/return"] = float(self.experience.visits(e).returns.mean())
        if self.config.schedule.assesses:
            self._assess(episodes, rows)
        self._refresh(running, rows)
        return rows

    def _collect(self, running: list[int]) -> dict[int, Episodes]:
        """An episode from each environment of each seed. In parts, if the schedule says so, and with the
        updates of one part under way while the next is collected: its policy is that of a part earlier."""
        begun = {i: self.experience.begin(i, self._policy(i)) for i in running}
        ends, before = self.experience.part_ends, {i: self.progress[i].steps for i in running}
        for end in ends:
            new = {i: rollout.advance(act, end) for i, (rollout, act) in begun.items()}
            self.learning.settle()
            self.experience.add(self.learning.device, new, first=end == ends[0])
            for i, e in new.items():
                p, taken = self.progress[i], self.experience.steps(e)
                p.owed += self.clock.earned(p, taken)
                p.collected += taken
                p.steps += taken
            if end < ends[-1]:
                self.learning.start()
        for i, (rollout, _) in begun.items():
            self.progress[i].episodes += len(rollout.envs)
            self.progress[i].round_steps = self.progress[i].steps - before[i]
        return {i: rollout.episodes for i, (rollout, _) in begun.items()}

    def _policy(self, i: int) -> Any:
        """How a seed acts: None at random, then always as the newest policy does at that time."""
        if self.clock.acts_at_random(self.progress[i]):
            return None
        return lambda obs, noise: self.policies.current[i](obs, noise)

    def _assess(self, episodes: dict[int, Episodes], rows: dict[int, Row]) -> None:
        """Judge the policies by their episodes: some are kept, and some are trained on those steps."""
        steps = {i: self.experience.steps(e) for i, e in episodes.items()}
        random = self.config.schedule.random_steps
        acted = {
            i: self.experience.visits(e)
            for i, e in episodes.items()
            if self.progress[i].collected - steps[i] >= random
        }
        for i, scores in self.learning.scores(acted).items():
            p = self.progress[i]
            verdict = self.policies.judge(i, p, Played(scores, steps[i]))
            p.owed += verdict.train * self.config.schedule.updates_per_step
            rows[i] |= {"score": float(np.mean(scores)), "kept": int(verdict.keep)}

    def _refresh(self, running: list[int], rows: dict[int, Row]) -> None:
        plan = self.agent.objective.fresh
        due = [i for i in running if plan and self.clock.refresh_due(self.progress[i])]
        if not plan or not due:
            return
        fresh = {i: self.experience.fresh(i, plan.episodes, self.policies.current[i]) for i in due}
        for i, measured in self.learning.refresh(fresh).items():
            p = self.progress[i]
            p.refreshes += 1
            p.next_refresh += plan.every
            if plan.counted:  # and so they earn updates like any others
                taken = self.experience.steps(fresh[i])
                p.owed += self.clock.earned(p, taken)
                p.steps += taken
            rows[i] |= measured | {"step": p.steps}

    # What a checkpoint holds.

    def arrays(self) -> dict[str, np.ndarray]:
        judged = halves.policies(self.half) if self.half else {}
        return flatten(
            {"state": self.learning.state} | self.policies.tree() | self.experience.tree() | judged
        )

    def meta(self) -> dict[str, Any]:
        progress = [dataclasses.asdict(p) for p in self.progress]
        half = self.half and {**halves.to_json(self.half), "learning": self.learning.half()}
        return {"progress": progress, "seconds": self.seconds, "half": half}

    def restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        def part(name: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(f"{name}/"): v for k, v in arrays.items() if k.startswith(f"{name}/")}

        self.learning.state = unflatten(self.learning.state, part("state"))
        kinds = self.policies.tree()
        self.policies.restore({kind: unflatten(like, part(kind)) for kind, like in kinds.items()})
        layouts = [part(f"layouts/{i}") for i in range(len(self.progress))]
        self.experience.restore(part("replay"), layouts)
        self.seconds = meta["seconds"]
        for p, saved in zip(self.progress, meta["progress"], strict=True):
            best, scores, *rest = saved["assessment"]
            p.__dict__.update(saved | {"assessment": Assessment(best, tuple(scores), *rest)})
        if half := meta.get("half"):
            self.half = halves.from_json(half, part("judged"), self.policies.current[0])
            self.learning.go_on(half["learning"])

    def logged(self) -> tuple[dict[int, int], dict[int, int]]:
        """By seed, the last step of which rounds are in the log, and of which evaluations are."""
        rounds = {p.seed: p.steps for p in self.progress}
        judged = {p.seed: p.evaluated_at for p in self.progress}
        if self.half:
            rounds |= {row["seed"]: row["step"] - 1 for row in self.half.rows.values()}
            judged |= {job.row["seed"]: job.row["step"] - 1 for job in self.half.jobs}
        return rounds, judged
