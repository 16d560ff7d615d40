"""Whether demonstrations move the way the environment does: frame rate, units, order, jumps."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sfm.demos.doctor.findings import Finding, called, error, listed, warning
from sfm.demos.doctor.reference import Law, Reference, doubled, pausing, under
from sfm.demos.types import Demos

DEGREES = 180 / np.pi


class Fit(NamedTuple):
    """A law in the demonstrations: motion is `slope` times the predicted, with correlation `match`."""

    law: Law
    slope: float
    match: float


def examine(demos: Demos, env: Reference) -> list[Finding]:
    """All that can be said about how demonstrations move; shapes must fit already."""
    episodes = [obs.astype(np.float64) for obs, _ in demos.episodes()]
    if repeated := list(_repeats(episodes, env)):  # they would show again as a wrong frame rate
        return repeated
    circles = list(_circles(episodes, env))
    if not 0.9 < _radius(episodes, env) < 1.1:  # the laws would see the wrong scale again, as a wrong pace
        return circles
    return [*circles, *(list(_laws(episodes, env)) or _gaps(episodes, env)), *_jumps(episodes, env)]


def _repeats(episodes: list[np.ndarray], env: Reference) -> Iterator[Finding]:
    pauses = np.mean(np.concatenate([pausing(x) for x in episodes]))
    # Where walls can hold a state for a while, only a regular pattern is suspicious.
    if pauses > (0.05 if env.pauses == 0 else 0.25 + 2 * env.pauses):
        yield warning(
            f"{pauses:.0%} of the states repeat the one before exactly, and then motion goes on",
            "Frames were duplicated, or the recorder ran too fast: sfm demos convert --every 2",
        )


def _circles(episodes: list[np.ndarray], env: Reference) -> Iterator[Finding]:
    states = np.concatenate(episodes)
    wrong = [(i, j) for i, j in env.circles if np.abs(np.hypot(states[:, i], states[:, j]) - 1).max() > 0.01]
    if wrong:
        pairs = ", ".join(f"{called(i, env.obs_names)} and {called(j, env.obs_names)}" for i, j in wrong[:4])
        yield error(
            f"dimensions {pairs}{' and others' if len(wrong) > 4 else ''} are cosine and sine of an angle in "
            f"'{env.name}', on a circle of radius 1; here the radius is about {_radius(episodes, env):.2g}",
            "Check the order of columns (sfm demos convert --reorder); was anything scaled or smoothed?",
        )


def _radius(episodes: list[np.ndarray], env: Reference) -> float:
    """The median distance from zero of all pairs of cosine and sine."""
    radii = [np.hypot(x[:, i], x[:, j]) for x in episodes for i, j in env.circles]
    return float(np.median(np.concatenate(radii))) if radii else 1.0


def _laws(episodes: list[np.ndarray], env: Reference) -> Iterator[Finding]:
    fits = [fit for law in env.laws if (fit := _fit(episodes, env, law)) is not None]
    if not fits:
        return
    # Fast vibrations lose their velocity between frames; what still fits tells the pace, if it agrees.
    clear = np.array([fit.slope for fit in fits if abs(fit.match) > 0.8] or [1.0])
    pace = float(np.median(clear))
    agree = np.abs(clear / pace - 1).max() < 0.4
    if agree and not 0.67 < pace < 1.5 and 1 / 30 < abs(pace) < 30:
        yield _pace(pace, env)
        return
    bad = [fit for fit in fits if not (0.6 < fit.slope < 1.67 and fit.match > 0.6)]
    if scaled := [fit for fit in bad if abs(fit.match) > 0.6]:
        yield _units(scaled, env)
    if lost := [fit for fit in bad if abs(fit.match) <= 0.6]:
        yield _order(episodes, lost, env)


def _fit(episodes: list[np.ndarray], env: Reference, law: Law) -> Fit | None:
    """None where a demonstration hardly moves: rounding would decide."""
    move, predicted = (part[:, 0] for part in under([law], episodes, env.circles))
    cross, power, total = move @ predicted, predicted @ predicted, move @ move
    if min(power, total) < 1e-10 * len(move):
        return None
    return Fit(law, float(cross / power), float(cross / np.sqrt(power * total)))


def _pace(slope: float, env: Reference) -> Finding:
    if slope < 0:
        return error(
            "time runs backwards: positions move against their velocities",
            "Reverse the order of the rows in each demonstration.",
        )
    if slope > 1:
        return error(
            f"a step moves {slope:.2g} times as far as one control step of '{env.name}' does: "
            f"about one frame in {max(2, round(slope))} was kept",
            "Record every control step; frames in between cannot be restored.",
        )
    return error(
        f"a step moves only {slope:.2g} times as far as one control step of '{env.name}' does: "
        f"the frame rate is about {1 / slope:.2g} times too high",
        f"Keep one state in {max(2, round(1 / slope))}: sfm demos convert --every {max(2, round(1 / slope))}",
    )


def _units(fits: list[Fit], env: Reference) -> Finding:
    law, factor = fits[0].law, float(np.median([fit.slope for fit in fits]))
    partner = called(law.partner, env.obs_names)
    which = f"{law.what} moves {factor:.3g} times as far as dimension {partner}, its velocity, says"
    others = f" (and {len(fits) - 1} more such pairs)" if len(fits) > 1 else ""
    advice = "One of the two is in another unit, scaled or standardised: undo it."
    if abs(factor / DEGREES - 1) < 0.2:
        advice = (
            "The first is in degrees, the velocity in radians per second: sfm demos convert --degrees COLUMNS"
        )
    elif abs(factor * DEGREES - 1) < 0.2:
        advice = "The velocity is in degrees per second: sfm demos convert --degrees COLUMNS"
    elif factor < 0:
        advice = "One of the two has the wrong sign, or columns are in another order."
    return error(which + others, advice)


def _order(episodes: list[np.ndarray], fits: list[Fit], env: Reference) -> Finding:
    law, partners = fits[0].law, sorted({fit.law.partner for fit in fits})
    others = (_fit(episodes, env, law._replace(partner=other)) for other in range(env.obs_dim))
    best = max((fit for fit in others if fit and fit.match > 0.8), key=lambda fit: fit.match, default=None)
    hint = ""
    if best:
        fits_better, should = (called(i, env.obs_names) for i in (best.law.partner, law.partner))
        hint = f" Dimension {fits_better} would fit where dimension {should} should."
    return error(
        f"{law.what} does not move as its velocity says ({env.dimensions(partners)})",
        f"Columns are in another order (sfm demos convert --reorder), or the states are noisy, smoothed or "
        f"shuffled in time.{hint}",
    )


def _gaps(episodes: list[np.ndarray], env: Reference) -> Iterator[Finding]:
    """Single steps that go the way of their velocities, but about twice as far: a frame is missing there."""
    clear, far = np.array([doubled(env.laws, x, env.circles) for x in episodes]).T
    # Healthy demonstrations stay below 0.8%, but where blows throw a body about.
    bad = (far > max(0.015, 6 * env.doubled) * clear) & (far >= 5)
    if bad.any():
        share = far[bad].sum() / clear[bad].sum()
        yield error(
            f"about {share:.0%} of the steps move as far as two control steps of '{env.name}': "
            f"frames are missing in {listed('demonstration', bad)}",
            "The recorder dropped frames: record every control step, or split the demonstration there.",
        )


def _jumps(episodes: list[np.ndarray], env: Reference) -> Iterator[Finding]:
    """Single steps that break the laws by far more than ever seen: a reset or a gap inside."""
    if not env.laws:
        return
    found = []
    for i, x in enumerate(episodes):
        move, predicted = under(env.laws, [x], env.circles)
        size = np.abs(move - predicted)
        typical = np.sqrt(np.mean(size**2, axis=0))
        # Over all laws at once. Healthy demonstrations stay below 0.4 of what was seen, resets exceed it.
        unseen, unusual = (
            np.sqrt(np.mean((size / np.maximum(unit, 1e-9)) ** 2, axis=1)) for unit in (env.residual, typical)
        )
        found += [(i, int(t)) for t in np.flatnonzero((unseen > 0.9) & (unusual > 6))]
    if found:
        demo, time = found[0]
        yield error(
            f"a jump in {listed('demonstration', sorted({i for i, _ in found}))}, the first between times "
            f"{time} and {time + 1} of demonstration {demo}",
            "Episodes are joined there, or frames are missing: split the demonstration at the jump.",
        )
