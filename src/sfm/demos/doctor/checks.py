"""Single checks of demonstrations: numbers, dimensions, ranges, lengths, starts, ends, actions."""

import itertools
from collections.abc import Iterator

import numpy as np

from sfm.config import Config, SFMConfig
from sfm.demos.doctor.findings import Finding, called, error, listed, warning
from sfm.demos.doctor.reference import Reference
from sfm.demos.types import Demos

REMOVE_NAN = (
    "Cut the demonstration before that time (sfm demos convert --slice :TIME), or record it again; "
    "do not fill gaps with zeros."
)


def _states(demos: Demos) -> np.ndarray:
    """All states, float64 [n,o]."""
    return np.concatenate([obs for obs, _ in demos.episodes()]).astype(np.float64)


def _finite(demos: Demos, env: Reference) -> Iterator[Finding]:
    for kind, parts in zip(("states", "actions"), zip(*demos.episodes(), strict=True), strict=True):
        if bad := [i for i, part in enumerate(parts) if part is not None and not np.isfinite(part).all()]:
            time, dim = np.argwhere(~np.isfinite(parts[bad[0]]))[0]
            names = env.obs_names if kind == "states" else env.action_names
            which = called(dim, names if parts[bad[0]].shape[1] == len(names) else ())
            where = f"in {listed('demonstration', bad)}; the first at time {time}, dimension {which}"
            yield error(f"NaN or infinite {kind} {where}", REMOVE_NAN)


def _dimensions(demos: Demos, env: Reference) -> Iterator[Finding]:
    found = demos.obs.shape[2]
    if found == env.obs_dim:
        return
    advice = f"Compare with the observation of '{env.name}'; is the file of another task?"
    if found == env.obs_dim + env.action_dim:
        advice = "That is states and actions together: store the actions apart, as `action`."
    elif found == 2 * env.obs_dim:
        advice = f"That is two states beside each other: sfm demos convert --columns 0-{env.obs_dim - 1}"
    elif found == env.obs_dim + 1:
        advice = "One column too many, perhaps the time or the reward: sfm demos convert --drop COLUMN"
    yield error(f"states have {found} dimensions, '{env.name}' has {env.obs_dim}", advice)


def _standardised(demos: Demos, env: Reference) -> Iterator[Finding]:
    obs = _states(demos)
    centre, spread = obs.mean(0), obs.std(0)
    moving = spread > 1e-6
    if moving.sum() > 1 and ((np.abs(centre) < 0.02) & (np.abs(spread - 1) < 0.02))[moving].mean() > 0.9:
        yield error(
            "the states have mean 0 and deviation 1 in every dimension: they were standardised",
            "Undo it (times the deviation, plus the mean): states must be as the environment gives them.",
        )


def _lengths(demos: Demos, env: Reference) -> Iterator[Finding]:
    long = demos.length > env.max_steps
    if long.any():
        yield warning(
            f"longer than an episode of '{env.name}', {env.max_steps} steps: {listed('demonstration', long)}",
            "Perhaps episodes are joined, or frames were added: sfm demos convert --slice A:B, or --every K",
        )


def discounts(config: Config) -> bool:
    """Whether a run sums what follows a demonstration's first state, so that its length and end matter."""
    return isinstance(config.objective, SFMConfig) and config.objective.match_from == "start"


def too_short(demos: Demos, env: Reference, config: Config) -> Iterator[Finding]:
    gamma = config.gamma ** (1 / max(config.action_repeat, 1))  # per step of the environment
    short = (demos.length < env.max_steps) & (gamma**demos.length > 0.05)
    if discounts(config) and short.any():
        least, enough = demos.length[short].min(), int(np.ceil(np.log(0.05) / np.log(gamma)))
        yield warning(
            f"too short for the discount {config.gamma}: {listed('demonstration', short)}; after {least} "
            f"steps the future still weighs {gamma**least:.0%}",
            f"Record {min(enough, env.max_steps)} steps or more, or train with a smaller gamma.",
        )


def _starts(demos: Demos, env: Reference) -> Iterator[Finding]:
    low, high = env.starts.min(0), env.starts.max(0)
    margin = (high - low) + 0.1 * env.states.std(0) + 1e-6
    outside = (demos.obs[:, 0] < low - margin) | (demos.obs[:, 0] > high + margin)
    if outside.any():
        yield warning(
            f"'{env.name}' never starts as in {listed('demonstration', outside.any(1))} "
            f"(see {env.dimensions(outside.any(0))})",
            "Perhaps the beginning was cut off, or columns are scaled or reordered: "
            "a demonstration should begin with the state after reset.",
        )


def _constant(demos: Demos, env: Reference) -> Iterator[Finding]:
    constant = np.zeros(env.obs_dim, bool)
    for obs, _ in demos.episodes():  # what waits for a contact may wait for all of a short demonstration
        rests = (env.states == obs[0]).mean(0) > 0.05  # as a force is zero until something touches
        long = len(obs) > np.maximum(10, 2 * env.still)
        constant |= (np.ptp(obs, axis=0) == 0) & env.varying & long & ~rests
    if not constant.any():
        return
    where = env.dimensions(constant)
    found = f"no change at all in {where} of some demonstration; in '{env.name}' there always is"
    if demos.qpos is None:
        yield error(
            found,
            "A sensor was not recorded, or a column was filled in: record it, or choose a task without it.",
        )
    else:  # then the states were read from the model: the motion is so
        yield warning(
            found, "The motion holds them still. If it only lacks them, leave them out: sfm train --match."
        )


def _duplicates(demos: Demos, env: Reference) -> Iterator[Finding]:
    first: dict[bytes, int] = {}
    keys = [obs.tobytes() for obs, _ in demos.episodes()]
    if same := [i for i, key in enumerate(keys) if first.setdefault(key, i) != i]:
        yield warning(
            f"an exact copy of an earlier one: {listed('demonstration', same)}",
            "Remove the copies: they add nothing and weigh their demonstration twice.",
        )


def _precision(demos: Demos, env: Reference) -> Iterator[Finding]:
    obs = np.concatenate([obs for obs, _ in demos.episodes()])
    free = np.flatnonzero((np.ptp(obs, axis=0) > 0) & ~_on_grid(env.states, 3))
    if len(free) == 0:
        return
    some = obs[:, free]
    step = np.sqrt(np.mean(np.diff(some.astype(np.float64), axis=0) ** 2, axis=0))
    coarse = free[np.spacing(np.abs(some).max(0)) > 0.02 * step]
    if len(coarse):
        yield error(
            f"too far from zero for float32 to resolve the motion: {env.dimensions(coarse)}",
            "Subtract the offset in float64 before saving.",
        )
        return
    with np.errstate(over="ignore"):
        half = (some == some.astype(np.float16)).all(0)
    decimals = next((k for k in range(4) if _on_grid(some, k).mean() > 0.5), None)
    if half.mean() > 0.5 or decimals is not None:
        how = "half precision (float16)" if decimals is None else f"{decimals} decimals"
        yield warning(
            f"the values are rounded to {how}, which '{env.name}' does not do",
            "Save the states as float32, unrounded: small changes per step carry the motion.",
        )


def _on_grid(values: np.ndarray, decimals: int) -> np.ndarray:
    """Which columns hold only numbers of this many decimals, up to what float32 resolves."""
    values = np.asarray(values, np.float64)
    return np.all(np.abs(values - np.round(values, decimals)) <= 1e-7 * np.abs(values), axis=0)


def _clipped(demos: Demos, env: Reference) -> Iterator[Finding]:
    span, bad = np.ptp(env.states, axis=0), np.zeros(env.obs_dim, bool)
    for (obs, _), extreme in itertools.product(demos.episodes(), (np.min, np.max)):
        end = extreme(obs, axis=0)
        there = obs == end
        visits = (there[1:] & ~there[:-1]).sum(0)  # a body at rest stays, what is clipped comes and goes
        # The environment's own limits show in its own extremes, and as values to which it comes back.
        own = np.abs(end - extreme(env.states, axis=0)) <= 0.05 * span
        own |= (env.states == end).sum(0) > 2
        bad |= (there.mean(0) > 0.02) & (visits > 4) & ~own
    if bad.any():
        yield warning(
            f"values pile up at a limit that '{env.name}' does not have: {env.dimensions(bad)}",
            "They were clipped, or a sensor is saturated: record again with a wider range.",
        )


def _bounds(demos: Demos, env: Reference) -> Iterator[Finding]:
    """Cosines and filtered commands come near 1 often, and never pass it."""
    size = np.abs(env.states)
    bounded = (size.max(0) <= 1.0001) & ((size > 0.98).mean(0) > 0.02)
    largest = np.abs(_states(demos)).max(0)
    beyond = bounded & (largest > 1.01)
    if beyond.any():
        yield error(
            f"outside [-1, 1], where '{env.name}' keeps them: {env.dimensions(beyond)} "
            f"(up to {largest[beyond].max():.3g})",
            "Check units (sfm demos convert --scale), offsets and the order of columns (--reorder).",
        )


def terminations(demos: Demos, env: Reference, config: Config) -> Iterator[Finding]:
    """What lies outside where the environment went on, in every dimension in which all of its ends do."""
    if len(env.ends) < 5:
        return
    telling = (env.ends != np.clip(env.ends, *env.alive)).all(0)
    if not telling.any():
        return
    over = [np.all((obs != np.clip(obs, *env.alive))[:, telling], axis=1) for obs, _ in demos.episodes()]
    where = env.dimensions(telling)
    if passing := [i for i, x in enumerate(over) if x[:-1].any()]:
        first = int(np.argmax(over[passing[0]]))
        yield error(
            f"'{env.name}' ends in states like those that {listed('demonstration', passing)} go through, "
            f"the first at time {first} of demonstration {passing[0]} (see {where})",
            "Cut them there, or record with the environment's own terminations.",
        )
    if ending := [i for i, x in enumerate(over) if x[-1] and i not in passing]:
        advice = "An expert that fails is a poor one to follow"
        if discounts(config) and config.objective.tail != "truncate":  # pyright: ignore[reportAttributeAccessIssue]
            advice += (
                "; if it is meant to end there, train with --objective.tail truncate, so that nothing follows"
            )
        what = f"ends where '{env.name}' terminates: {listed('demonstration', ending)} (see {where})"
        yield warning(what, f"{advice}.")


def _scale(demos: Demos, env: Reference) -> Iterator[Finding]:
    obs, middle = _states(demos), env.states.mean(0)
    reach = np.abs(env.states - middle).max(0)
    ratio = np.abs(obs - middle).max(0) / np.maximum(reach, 1e-9)
    large = (ratio > 10) & (reach > 1e-6)
    if large.any():
        factor = float(np.median(ratio[large]))
        advice = "Check units (sfm demos convert --scale), offsets and the order of columns (--reorder)."
        if 20 < factor < 180 and large.sum() > 1:
            advice = (
                "Perhaps degrees instead of radians (a factor of 57.3): sfm demos convert --degrees COLUMNS"
            )
        yield error(
            f"about {factor:.2g} times larger than anything seen in '{env.name}': {env.dimensions(large)}",
            advice,
        )
    span = np.ptp(env.states, axis=0)
    if env.experienced:  # random actions alone say little about how far an expert goes
        excess = np.maximum(obs.max(0) - env.states.max(0), env.states.min(0) - obs.min(0))
        far = (excess > 0.75 * span) & (ratio <= 10) & (span > 1e-6)
        if far.any():
            yield warning(
                f"far beyond the range of '{env.name}' under random actions and its bundled expert: "
                f"{env.dimensions(far)}",
                "Check units, offsets and the order of columns, unless this expert is that much faster.",
            )
    small = np.median((np.ptp(obs, axis=0) / np.maximum(span, 1e-9))[span > 1e-6]) if span.any() else 1.0
    size = np.sqrt(np.mean(env.starts**2, axis=0))
    begin = np.sqrt(np.mean(demos.obs[:, 0].astype(np.float64) ** 2, axis=0))
    near = np.median((begin / np.maximum(size, 1e-9))[size > 1e-6]) if (size > 1e-6).any() else 0.0
    if small < 0.1 and near < 0.3:  # one that balances varies little, but starts like any other
        yield warning(
            f"the states vary about {1 / max(small, 1e-9):.2g} times less than those of '{env.name}'",
            "Check units (kilometres, turns), and that something moves.",
        )


def _actions(demos: Demos, env: Reference) -> Iterator[Finding]:
    if demos.action is None:
        return
    if demos.action.shape[2] != env.action_dim:
        yield error(
            f"actions have {demos.action.shape[2]} dimensions, '{env.name}' has {env.action_dim}",
            "Remove the actions, which state-only methods do not need: sfm demos convert --drop action",
        )
    elif (largest := float(np.abs(demos.action).max())) > 1.0 + 1e-4:
        yield warning(
            f"actions reach {largest:.3g}, but lie within [-1, 1] here",
            "Map them from the actuators' range to [-1, 1]: sfm demos convert --scale action=FACTOR",
        )
    elif not demos.action.any():
        yield warning("all actions are zero", "If they were not recorded, leave them out.")


DECISIVE = _finite, _dimensions, _standardised  # each makes the checks after it meaningless
FURTHER = (
    *(_lengths, _starts, _constant, _duplicates, _precision, _clipped, _bounds, _scale),
    _actions,
)
