"""What is due. Asking changes nothing: the loop notes in `SeedProgress` what has happened."""

import math
from dataclasses import dataclass, field
from typing import Any

from sfm.config import BCConfig, Config, ScheduleConfig
from sfm.envs import Env
from sfm.errors import SfmError
from sfm.training.assess import Assessment


@dataclass
class SeedProgress:
    """Where one seed stands."""

    seed: int
    steps: int = 0  # in the budget
    seconds: float = 0.0  # of training until then
    collected: int = 0  # those that entered the replay
    episodes: int = 0
    round_steps: int = 0  # in the last round
    kept_steps: int = 0  # where the kept policy was taken
    kept_updates: int = 0
    most_alike: dict[str, float] | None = None  # how the kept policy was evaluated, if it was chosen for that
    owed: float = 0.0  # updates that its steps have earned but not yet had
    updates: int = 0
    refreshes: int = 0
    next_refresh: int = 0
    evaluated_at: int = -1  # the step of the policy that was evaluated last,
    evaluated_for: int = 0  # and the step for which: the end of the round beside which it was
    assessment: Assessment = field(default_factory=Assessment)

    def row(self) -> dict[str, Any]:
        """The beginning of a row of the log."""
        return {"step": self.steps, "seed": self.seed, "episodes": self.episodes, "updates": self.updates}


@dataclass(frozen=True)
class Clock:
    """Questions about one seed's progress `p`."""

    schedule: ScheduleConfig
    longest: int
    """Steps of a round in which no episode ends early."""
    patience: float = math.inf
    """Steps without a better policy after which a seed has finished."""

    def running(self, p: SeedProgress) -> bool:
        return p.steps < self.schedule.steps and p.assessment.steps < self.patience

    def chooses(self, step: int) -> bool:
        """Whether a policy of this step may be kept for its likeness."""
        s = self.schedule
        return s.likeness_from < 1 and step >= s.likeness_from * s.steps

    def acts_at_random(self, p: SeedProgress) -> bool:
        return p.collected < self.schedule.random_steps

    def earned(self, p: SeedProgress, steps: int) -> float:
        """Updates that its next steps earn at once; where policies are assessed, the verdict says later."""
        waits = self.acts_at_random(p) or self.schedule.assesses
        return 0.0 if waits else steps * self.schedule.updates_per_step

    def update_due(self, p: SeedProgress) -> bool:
        """Whether a whole chunk is owed."""
        return p.owed >= self.schedule.chunk

    def actor_rests(self, p: SeedProgress) -> bool:
        return p.updates < self.schedule.actor_start_update

    def refresh_due(self, p: SeedProgress) -> bool:
        return p.steps >= p.next_refresh

    def round_end(self, p: SeedProgress) -> int:
        """The step after the next round, as far as can be told: it takes as many as the last."""
        return p.steps + (p.round_steps or self.longest)

    def evaluation_due(self, p: SeedProgress, step: int) -> bool:
        every = self.schedule.eval_every
        return step // every > p.evaluated_for // every

    def evaluation_due_beside_round(self, p: SeedProgress) -> bool:
        """Of the policies that begin the next round; those that the last round leaves come after it."""
        end = self.round_end(p)
        return end < self.schedule.steps and self.evaluation_due(p, end)

    def evaluation_due_after_round(self, p: SeedProgress) -> bool:
        return self.evaluation_due(p, p.steps) or not self.running(p)


def check_learns(config: Config, env: Env) -> None:
    """An error if the steps end before anything is learned."""
    s = config.schedule
    if isinstance(config.objective, BCConfig):  # plays no episodes
        return
    decisions = math.ceil(env.max_steps / config.action_repeat)
    whole = s.envs * decisions * config.action_repeat  # steps of a round, unless episodes end early
    random = s.random_steps if env.terminates else math.ceil(s.random_steps / whole) * whole
    if s.steps <= random:
        raise SfmError(
            f"{s.steps:,} steps train nothing: the first {random:,} act at random and earn no updates; give "
            "more --steps, or fewer --schedule.random-steps"
        )
    updates = (math.ceil(s.steps / whole) * whole - s.random_steps) * s.updates_per_step
    if updates < s.chunk:
        raise SfmError(
            f"{s.steps:,} steps train nothing: they earn {updates:.0f} updates, which come by the {s.chunk}; "
            "give more --steps, or a smaller --schedule.chunk"
        )
