"""Fields of configurations that are no more, so that files of earlier versions are still understood."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sfm.errors import SfmError

Data = dict[str, Any]


class Gone(NamedTuple):
    """A setting that nothing reads any more."""

    was: str
    """What it did, as the rest of a sentence that begins with "it"."""
    off: tuple[Any, ...] = ()
    """Values with which it did nothing, or what is done always by now: they are left out."""
    acts: bool = False
    """Whether policies that were trained with it need it to act."""


RETIRED: dict[str, Gone | str] = {
    "ActorCriticConfig.action_penalty": "pretanh_penalty",
    "FeatureConfig.state": "state_weight",
    "FeatureConfig.alive": "alive_weight",
    "SFMConfig.along": "witness_error_weight",
    "ScheduleConfig.segments": "bursts_per_episode",
    "ScheduleConfig.actor_after": "actor_start_update",
    "TD3Config.target_actor=frozen": Gone("never moved the actor that acts in the critic's target"),
    "TD7Config.clip_targets": Gone("could leave the critic's targets unclipped", off=(True,)),
    "TD7Config.actor_activation": Gone("chose the actor's activation", off=("elu",), acts=True),
    "SFMConfig.lead": Gone("added to the features of visits how the policy has changed since", off=(0.0,)),
    "SFMConfig.match_from=anywhere": Gone("matched successor features from all states visited"),
    "SFMConfig.actor_loss=squared": Gone("followed the squared gap of one minibatch"),
    "SFMConfig.tail=repeat": Gone("continued a demonstration with its last state for ever"),
    "FeatureConfig.average": Gone("averaged the weights of phi over updates", off=(0.0,)),
    "FeatureConfig.centre_decay": Gone("was the decay of the running mean of phi", off=(0.995,)),
    "RewardConfig.twins": Gone("chose how twin critics give a target", off=("min",)),
    "RewardConfig.scale": Gone("was a factor of the reward", off=(1.0,)),
    "ScheduleConfig.noise_colour": Gone("gave exploration noise slow waves", off=(0.0,)),
    "ScheduleConfig.assess_rescore": Gone(
        "scored the checkpoint's episodes again by new features", off=(False,)
    ),
}
"""By `Class.field`, or `Class.field=value` for one value of a field that is still there. A name: the field is
called so today and keeps its value."""


def _normalise(config: Data) -> Data:
    """All networks had one switch for standardised states, phi had another; together they did it twice."""
    objective = _part(config, "objective")
    features = _part(objective, "features")
    everywhere, of_phi = config.get("normalise", False), features.get("normalise", False)
    if not isinstance(everywhere, bool) or not isinstance(of_phi, bool):
        return config
    if "normalise" in features:
        rest = {name: value for name, value in features.items() if name != "normalise"}
        config = config | {"objective": objective | {"features": rest}}
    return config | {"normalise": "all" if everywhere else "features" if of_phi else "none"}


def _part(data: Data, name: str) -> Data:
    inner = data.get(name)
    return inner if isinstance(inner, dict) else {}


def _rescore(schedule: Data) -> Data:
    """Where nothing was assessed, nothing was scored again."""
    after, steps = schedule.get("assess_after", 75_000), schedule.get("steps", 1_000_000)
    if not (isinstance(after, int | float) and isinstance(steps, int | float)) or after < steps:
        return schedule  # what is no number is refused with the other fields
    return {name: value for name, value in schedule.items() if name != "assess_rescore"}


WHOLE: dict[str, Callable[[Data], Data]] = {"Config": _normalise, "ScheduleConfig": _rescore}
"""By class: how its fields of earlier versions are translated together, before each by itself."""


def understood(kind: type, data: Data, training: bool = True) -> Data:
    """Fields of the dataclass `kind` in a file of any version, as fields of today.

    What was retired is left out if it was off, and an error otherwise; but without `training` only what a
    policy needs to act is an error.
    """
    fields, owners = {}, [owner.__name__ for owner in kind.__mro__]
    for name, value in WHOLE.get(kind.__name__, lambda data: data)(data).items():
        keys = [f"{owner}.{name}{which}" for owner in owners for which in ("", f"={value}")]
        entry = next((RETIRED[key] for key in keys if key in RETIRED), name)
        if isinstance(entry, str):
            fields[entry] = value
        elif value not in entry.off and (training or entry.acts):
            raise SfmError(f"{kind.__name__}.{name} is {value!r}, but that is gone: it {entry.was}")
    return fields
