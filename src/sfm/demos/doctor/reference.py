"""What an environment produces: its ranges, its starts, and the laws that hold in all of its motion.

Laws are found, not written down. Experts go where random actions never lead, so ranges say little about
them; but a velocity stays the rate of its position at any speed, and cosine and sine stay on the circle.
"""

import functools
import itertools
import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sfm import envs
from sfm.demos import bundled
from sfm.demos.doctor.findings import called, listed
from sfm.envs.signals import action_names, no_number, obs_names

_EPISODES, _STEPS, _STARTS = 6, 250, 32
_AT_MOST = 60  # episodes, where they end early

Circles = list[tuple[int, int]]  # dimensions that are cosine and sine of one angle


class Law(NamedTuple):
    """The coordinate called `what` moves by `rate` times dimension `partner`, its mean over the step."""

    what: str
    coordinate: int  # a column of `_moves`
    partner: int
    rate: float


class Reference(NamedTuple):
    """The environment called `name`, as seen in `states` [n,o] float64 under random actions."""

    name: str
    obs_dim: int
    action_dim: int
    max_steps: int
    states: np.ndarray
    starts: np.ndarray  # [m,o]
    experienced: bool  # whether `states` hold those of bundled demonstrations, too
    ends: np.ndarray  # [k,o], states in which it terminated
    alive: tuple[np.ndarray, np.ndarray]  # [o] each, least and greatest where it went on
    circles: Circles
    laws: list[Law]
    residual: np.ndarray  # [laws], how much one step could deviate: the most seen, or half the fastest move
    varying: np.ndarray  # [o] bool, what changes within each episode
    still: np.ndarray  # [o], the most steps for which it did not
    pauses: float  # the fraction of steps that change nothing before one that does
    doubled: float  # the fraction of clear steps that go about twice as far as the laws say
    obs_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()

    def dimensions(self, which: ArrayLike) -> str:
        """Those of states, in words; see `listed`."""
        return listed("dimension", which, self.obs_names)


@functools.lru_cache(maxsize=4)
def reference(name: str) -> Reference:
    """What the environment called `name` does."""
    env = envs.make(name)
    seen = observe(env)
    env.close()
    return seen


def observe(env: envs.Env, seconds: float = math.inf) -> Reference:
    """Plays the environment: independent, held and extreme random actions, so that it moves in many ways.

    After `seconds` it plays no further episode than the two that laws need.
    """
    name = env.name
    played = _episodes(env, time.monotonic() + seconds)
    starts = np.stack([env.reset(seed) for seed in range(_STARTS)]).astype(np.float64)
    episodes = [x for x, _ in played]
    states, demos = np.concatenate(episodes), bundled.bundled(name)
    expert = [obs.astype(np.float64) for obs, _ in demos.episodes()] if demos else []
    going = np.concatenate([x[:-1] if end else x for x, end in played])
    circles = _circles(states)
    laws = _laws(episodes, circles, obs_names(env))
    moved, predicted = under(laws, episodes, circles)
    clear, far = np.sum([doubled(laws, x, circles) for x in episodes], axis=0)
    return Reference(
        name,
        env.obs_dim,
        env.action_dim,
        env.max_steps,
        np.concatenate([states, *expert]),
        starts,
        bool(expert),
        np.array([x[-1] for x, end in played if end]).reshape(-1, env.obs_dim),
        (going.min(0), going.max(0)),
        circles,
        laws,
        np.maximum(np.abs(moved - predicted), np.abs(moved) / 2).max(0),  # half: a blow can stop any motion
        np.all([np.ptp(x, axis=0) > 0 for x in episodes], axis=0),
        np.max([_stillness(x) for x in episodes], axis=0),
        float(np.mean(np.concatenate([pausing(x) for x in episodes]))),
        float(far / max(clear, 1)),
        obs_names(env),
        action_names(env),
    )


def _episodes(env: envs.Env, deadline: float) -> list[tuple[np.ndarray, bool]]:
    """Episodes [T+1,o], and whether each ended in a termination; more of them where they are short."""
    rng = np.random.default_rng(0)
    played = []
    while len(played) < _EPISODES or (
        len(played) < _AT_MOST and sum(len(x) - 1 for x, _ in played) < _EPISODES * min(_STEPS, env.max_steps)
    ):
        if len(played) >= 2 and time.monotonic() > deadline:
            break
        played.append(_play(env, rng, len(played)))
    return played


def _play(env: envs.Env, rng: np.random.Generator, seed: int) -> tuple[np.ndarray, bool]:
    hold, extreme = (1, 10, 25)[seed % 3], seed % 2
    obs, action, terminated = [_finite(env, env.reset(seed), 0, seed)], np.zeros(env.action_dim), False
    for t in range(min(_STEPS, env.max_steps)):
        if t % hold == 0:
            action = rng.uniform(-1.0, 1.0, env.action_dim)
            action = np.sign(action) if extreme else action
        state, _, terminated, truncated = env.step(action)
        obs.append(_finite(env, state, t + 1, seed))
        if terminated or truncated:
            break
    return np.stack(obs).astype(np.float64), terminated


def _finite(env: envs.Env, state: np.ndarray, step: int, seed: int) -> np.ndarray:
    """The same, or an error: nothing can be told by an environment that breaks."""
    if (bad := np.flatnonzero(~np.isfinite(state))).size:
        raise no_number(float(state[bad[0]]), f"obs '{obs_names(env)[bad[0]]}'", step, seed)
    return state


def _circles(states: np.ndarray) -> Circles:
    moving, square = np.flatnonzero(np.ptp(states, axis=0) > 1e-3).tolist(), states**2
    pairs = itertools.combinations(moving, 2)
    return [(i, j) for i, j in pairs if np.abs(square[:, i] + square[:, j] - 1).max() < 1e-4]


def _moves(x: np.ndarray, circles: Circles) -> np.ndarray:
    """How x[T+1,o] changes per step: [T,c] of its dimensions, its angles, and the angles between those."""
    angles = [np.arctan2(x[:, j], x[:, i]) for i, j in circles]
    between = [a - b for b, a in itertools.combinations(angles, 2)]
    turns = [np.angle(np.exp(1j * np.diff(angle)))[:, None] for angle in (*angles, *between)]
    return np.concatenate([np.diff(x, axis=0), *turns], axis=1)


def _centres(x: np.ndarray) -> np.ndarray:
    """The mean of x[T+1,o] over each step, [T,o]: there a velocity is a difference, to second order."""
    return (x[1:] + x[:-1]) / 2


def pausing(x: np.ndarray) -> np.ndarray:
    """[T] bool: nothing changes in this step of x[T+1,o], but in the next. Rest for good is no pause."""
    still = (np.diff(x, axis=0) == 0).all(1)
    return still & ~np.append(still[1:], True)


def _stillness(x: np.ndarray) -> np.ndarray:
    """The most steps in a row for which each dimension of x[T+1,o] does not change, [o]."""
    longest, now = np.zeros((2, x.shape[1]), int)
    for same in np.diff(x, axis=0) == 0:
        now = np.where(same, now + 1, 0)
        longest = np.maximum(longest, now)
    return longest


def doubled(laws: list[Law], x: np.ndarray, circles: Circles) -> tuple[int, int]:
    """How many steps of an episode [T+1,o] clearly go the way of their velocities, and how many of those go
    about twice as far."""
    if len(laws) < 3:  # a direction needs several
        return 0, 0
    move, predicted = under(laws, [x], circles)
    unit = np.sqrt(np.mean(move**2, axis=0)) + 1e-9
    move, predicted = move / unit, predicted / unit
    cross, power = (move * predicted).sum(1), (predicted**2).sum(1)
    along = cross > 0.9 * np.sqrt(power * (move**2).sum(1))
    moving = along & (power > 0.1 * len(laws))
    return int(moving.sum()), int((moving & (cross > 1.6 * power)).sum())


def under(laws: list[Law], episodes: list[np.ndarray], circles: Circles) -> tuple[np.ndarray, np.ndarray]:
    """How far each step of episodes [T+1,o] moves, and how far by each law it should, [steps,laws] each."""
    coordinates, partners = [law.coordinate for law in laws], [law.partner for law in laws]
    moved = np.concatenate([_moves(x, circles)[:, coordinates] for x in episodes])
    velocity = np.concatenate([_centres(x)[:, partners] for x in episodes])
    return moved, np.array([law.rate for law in laws]) * velocity


def _laws(episodes: list[np.ndarray], circles: Circles, known: tuple[str, ...]) -> list[Law]:
    """For each dimension, the coordinate whose rate it is, if 90% of that motion is explained, twice."""
    halves = [_regress(episodes[start::2], circles) for start in (0, 1)]
    explained = np.minimum(halves[0][0], halves[1][0])  # [c,o]
    np.fill_diagonal(explained, 0.0)  # nothing is its own velocity
    names = [f"dimension {called(i, known)}" for i in range(explained.shape[1])]
    names += [f"the angle of dimensions {i} and {j}" for i, j in circles]
    for (i, j), (k, m) in itertools.combinations(circles, 2):
        names.append(f"the angle between dimensions {i}, {j} and {k}, {m}")
    laws = {}
    for coordinate, what in enumerate(names):
        partner = int(explained[coordinate].argmax())
        # An angle between bodies is needed only where no plainer coordinate has this velocity.
        if explained[coordinate, partner] > 0.9 and partner not in laws:
            laws[partner] = Law(what, coordinate, partner, float(halves[0][1][coordinate, partner]))
    return list(laws.values())


def _regress(episodes: list[np.ndarray], circles: Circles) -> tuple[np.ndarray, np.ndarray]:
    """Of each coordinate on each dimension alone: the explained fraction and the rate, [c,o] each."""
    move = np.concatenate([_moves(x, circles) for x in episodes])
    centre = np.concatenate([_centres(x) for x in episodes])
    cross, power = move.T @ centre, np.maximum((centre**2).sum(0), 1e-12)
    total = np.maximum((move**2).sum(0), 1e-12)
    return cross**2 / (total[:, None] * power), cross / power
