"""When to act, update, assess, evaluate and save."""

from dataclasses import dataclass
from typing import Literal

from sfm.config.checks import AtLeastOne, NotNegative, NotNegativeInt, Positive, Share, check, require


@dataclass(frozen=True)
class ScheduleConfig:
    """When to act, update, assess, evaluate and save."""

    steps: AtLeastOne = 1_000_000
    """The run takes this many environment steps, those of all its environments together."""
    envs: AtLeastOne = 1
    """Each seed plays in this many environments at a time."""
    random_steps: NotNegativeInt = 10_000
    """The run begins with this many steps of uniform random actions, without updates."""
    bouts: Share = 0.0
    """Bouts are stretches of about ten decisions in which each action is held at one of its bounds, for no
    smaller push rolls a body over. Random steps consist of them, and at first this share of later ones; it
    falls linearly to nothing in the run's first quarter. With 0 there are none."""
    reset_share: Share = 0.0
    """This share of the environments, rounded to whole ones, begins each part of an episode (see
    `bursts_per_episode`) in a state of the demonstrations, where those have simulator states (qpos, qvel);
    their steps are learned from, but are no visits of the policy's and are not matched."""
    updates_per_step: Positive = 1.0
    """Each later environment step earns this many updates."""
    bursts_per_episode: AtLeastOne = 1
    """An episode is collected in this many parts, each followed by the updates it has earned; with 1 they
    come at its end, as in the paper, and with more the policy changes while it acts, so that it cannot be
    assessed."""
    actor_start_update: NotNegativeInt = 0
    """The actor begins to learn after this many updates, since one with skill would lose it to a young
    critic."""
    batch: AtLeastOne = 1024
    """Each update sees this many transitions."""
    replay: AtLeastOne = 1_000_000
    """Replay keeps this many transitions."""
    chunk: AtLeastOne = 250
    """One compiled call does this many updates."""
    assess_after: NotNegativeInt = 75_000
    """Until this step the latest policy, or average, is kept, and after it only a policy that passes an
    assessment; a value of `steps` or more means no assessments."""
    assess_episodes: AtLeastOne = 3
    """A policy passes its assessment after this many episodes."""
    assess_relax: Positive = 1.1
    """The first assessment asks for the best score so far, lowered by this factor."""
    assess_by: Literal["min", "mean"] = "min"
    """A policy is assessed by its worst episode or by the mean of its episodes."""
    average_updates: NotNegativeInt = 0
    """The policy that is kept is a moving average of the weights over about this many updates, which swings
    less than the one that explores; with 0 it is no average."""
    average_share: Share = 0.0
    """The moving average covers at least this share of all updates so far."""
    likeness_from: Share = 1.0
    """From this share of the run on, the policy that is kept is the one of the evaluated averages that is
    most like the demonstrations, by likeness and never by reward; with 1 it stays the latest."""
    eval_every: AtLeastOne = 25_000
    """The policies are evaluated after this many steps each time."""
    eval_episodes: AtLeastOne = 10
    """An evaluation plays this many episodes."""
    save_seconds: NotNegative = 60.0
    """A resumable checkpoint is saved when the last one is this many seconds old, and with 0 after every
    round."""

    @property
    def assesses(self) -> bool:
        """Whether policies have to pass an assessment to be kept."""
        return self.assess_after < self.steps

    @property
    def resets(self) -> int:
        """How many environments begin in demonstrated states."""
        return round(self.reset_share * self.envs)

    def __post_init__(self) -> None:
        check(self, "schedule")
        require(self.replay > self.batch, "schedule.replay must exceed schedule.batch")
        averages = self.average_updates > 0
        require(averages or self.average_share == 0, "schedule.average_share needs schedule.average_updates")
        require(
            not self.assesses or (self.bursts_per_episode == 1 and not averages),
            "assessing (assess_after < steps) goes only with bursts_per_episode=1 and average_updates=0",
        )
        require(
            self.resets < self.envs,
            "schedule.reset_share leaves no environment whose episodes begin where the task does: lower it",
        )
        likens = self.likeness_from < 1
        require(
            not (self.assesses and likens), "a policy is kept by assessment or by likeness_from, not both"
        )
