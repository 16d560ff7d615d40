"""One run, whole: how to learn, what to learn, and when to do what."""

import json
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

from sfm.config.checks import AtLeastOne, BelowOne, NotNegativeInt, check, require
from sfm.config.learners import LearnerConfig, TD3Config
from sfm.config.objectives import BCConfig, Needs, ObjectiveConfig, SFMConfig
from sfm.config.robot import RobotConfig
from sfm.config.schedule import ScheduleConfig
from sfm.errors import SfmError

Normalise = Literal["none", "features", "all"]


@dataclass(frozen=True)
class Config:
    """One run, whole."""

    task: str = ""
    """The task is a bundled one (see `sfm tasks`), another of dm_control, a Gymnasium id, `module:Id-v0` for
    an environment of a module of one's own, or the path of a robot's MJCF file."""
    env_kwargs: str = ""
    """Gymnasium makes the environment with these arguments, a JSON object as in '{"k": 1}'."""
    preset: str = ""
    """The preset is a named configuration (see `sfm presets`), from which all other options start."""
    gamma: BelowOne = 0.99
    """The future is discounted by this factor per decision, which is a step unless `action_repeat` says
    otherwise."""
    n_step: AtLeastOne = 1
    """A critic's target has this many cumulants before a value of its own ends it."""
    action_repeat: NotNegativeInt = 1
    """Each decision of the policy holds for this many environment steps, and demonstrations are thinned to
    match; with 0 for as many as come nearest to 32 milliseconds."""
    normalise: Normalise = "none"
    """States are standardised by running statistics of replay for no network, for phi and what it learns with
    (`features`), or for all."""
    match: tuple[str, ...] = ()
    """The demonstrations are matched in these dimensions of a state alone, by name or pattern (`*.velocity`),
    and with none in all that they have; the policy sees all."""
    robot: RobotConfig = field(default_factory=RobotConfig)
    """The robot is how an MJCF file becomes an environment."""
    learner: LearnerConfig = field(default_factory=TD3Config)
    """The learner is how to learn."""
    objective: ObjectiveConfig = field(default_factory=SFMConfig)
    """The objective is what to learn."""
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    """The schedule says when to act, update, assess, evaluate and save."""
    seed: NotNegativeInt = 0
    """All randomness of the run derives from this number."""
    seeds: AtLeastOne = 1
    """This many seeds, from `seed` upwards, are trained at once."""
    warm_start: str = "none"
    """The actor begins anew (`none`), as a clone of the demonstrations' actions (`bc`), or as the policy of a
    bundled expert (by its task), a run folder or a policy file; see `schedule.actor_start_update`."""
    warm_start_updates: NotNegativeInt = 5_000
    """The cloning of `warm_start` takes this many updates before the first step."""

    @property
    def updates(self) -> int:
        """Of the whole run, or a little more: its random steps earn none."""
        return round(self.schedule.steps * self.schedule.updates_per_step)

    @property
    def refreshes(self) -> int:
        """Of the whole run, by fresh episodes; 0 where nothing wants them."""
        return self.schedule.steps // getattr(self.objective, "refresh_every", self.schedule.steps + 1)

    @property
    def env_arguments(self) -> dict[str, Any]:
        """`env_kwargs`, read."""
        return arguments(self.env_kwargs)

    @property
    def begins_with_policy(self) -> bool:
        return self.warm_start not in ("none", "bc")

    @property
    def needs(self) -> Needs:
        """What of demonstrations this run needs."""
        return "actions" if self.warm_start == "bc" else self.objective.needs

    @property
    def needs_whole_states(self) -> str:
        """Why demonstrations must have all dimensions of a state, or nothing if a part is enough."""
        return "the actor begins as a clone" if self.warm_start == "bc" else self.objective.needs_whole_states

    def __post_init__(self) -> None:
        """Checks what concerns several parts; each has checked itself."""
        check(self)
        arguments(self.env_kwargs)
        require(self.seed + self.seeds <= 2**31, "seeds must stay below 2**31")
        kind = self.objective.kind
        can = self.n_step == 1 or self.objective.looks_ahead
        require(can, f"n_step above 1 does not work with the objective '{kind}'")
        can = self.normalise != "features" or isinstance(self.objective, SFMConfig)
        require(can, f"the objective '{kind}' has no features: normalise must be none or all")
        fixed = {"fourier", "steps", "landmarks"} & set(
            getattr(getattr(self.objective, "features", None), "methods", ())
        )
        can = not fixed or self.normalise != "none"
        require(
            can, "fourier, steps and landmarks see standardised states: normalise must be features or all"
        )
        apart = not isinstance(self.objective, SFMConfig) or self.objective.witness_batch == "independent"
        require(
            apart or not self.schedule.resets,
            "schedule.reset_share needs objective.witness_batch independent, which sees visits alone",
        )
        can = self.schedule.average_updates == 0 or not isinstance(self.objective, BCConfig)
        require(
            can, f"average_updates does not work with the objective '{kind}', which keeps what validates best"
        )
        for place in ("learner", "objective"):
            part = getattr(self, place)
            for name in getattr(part, "intervals", ()):  # updates are counted within a chunk
                even = self.schedule.chunk % attrgetter(name)(part) == 0
                require(even, f"schedule.chunk must be a multiple of {place}.{name}")


def arguments(text: str) -> dict[str, Any]:
    """What `env_kwargs` says, or an error."""
    try:
        given = json.loads(text or "{}", parse_constant=_refused)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise SfmError(f"env_kwargs must be a JSON object, as in '{{\"k\": 1}}', not {text}")
    return given


def _refused(constant: str) -> None:
    """NaN and infinity, which JSON does not have: a run would remember another value."""
    raise ValueError(constant)
