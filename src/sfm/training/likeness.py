"""How alike two behaviours are, without any reward: 1 is the expert again, 0 a policy of random actions.

    likeness = 1 - (D(policy, demonstration) - D(expert again, demonstration))
                 / (D(random actions, demonstration) - D(expert again, demonstration))

D is the sliced Wasserstein distance of order 1 between distributions of (s, s' - s): the mean over random
directions of the area between two cumulative distributions. It tells apart what has equal means, and s' - s
tells a stride from a shuffle through the same poses. The expert again is another demonstration or, where
there is one, its even tenths beside its odd ones: halves would tell how getting up differs from standing.

Every coordinate is divided by its spread over demonstration and random actions together. By the demonstration
alone, what it holds constant would outweigh everything else.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfm.demos import Demos
from sfm.envs import Env
from sfm.training.rollout import RANDOM, play, reset_seed

DIRECTIONS = 512
QUANTILES = 400  # at which two cumulative distributions are compared
MOST = 2500  # transitions that are compared: sorting more takes longer, and moves likeness by less than 0.01
RANDOM_EPISODES = 4
PARTS = 10  # of one demonstration, which are compared in turn
PAIRS_OF = 8  # demonstrations, at most, are compared with each other


def transitions(episodes: Sequence[np.ndarray], part: Any = slice(None)) -> np.ndarray:
    """States [T+1, o] of episodes -> (s, s' - s) of `MOST` of their transitions, evenly spaced, or of all:
    [N, 2 o], or as many as a `part` of a state has."""
    obs, after = (np.concatenate([e[at, part] for e in episodes]) for at in (slice(-1), slice(1, None)))
    some = np.linspace(0, len(obs) - 1, min(len(obs), MOST)).round().astype(int)
    return np.concatenate([obs[some], after[some] - obs[some]], 1)


def in_turn(states: np.ndarray) -> list[list[np.ndarray]]:
    """States [T+1, o] of one episode -> its even tenths and its odd ones; shorter ones have fewer parts."""
    edges = np.unique(np.linspace(0, len(states) - 1, PARTS + 1).round().astype(int))
    pieces = [states[a : b + 1] for a, b in itertools.pairwise(edges)]
    return [pieces[::2], pieces[1::2]] if len(pieces) > 1 else [pieces]


class Likeness:
    """Measures episodes by demonstrations; each argument is a list of states [T+1, o].

    Of a state a `part` alone may count.
    """

    def __init__(
        self,
        demos: Sequence[np.ndarray],
        random: Sequence[np.ndarray],
        seed: int = 0,
        part: tuple[int, ...] | None = None,
    ):
        self._part = slice(None) if part is None else np.array(part)
        rows = [transitions(demos, self._part), transitions(random, self._part)]
        self._mean = np.mean([r.mean(0) for r in rows], 0)
        second = np.mean([np.square(r - self._mean).mean(0) for r in rows], 0)
        self._scale = 1 / np.sqrt(np.maximum(second, 1e-12))
        directions = np.random.default_rng(seed).standard_normal((len(self._scale), DIRECTIONS))
        self._directions = (directions / np.linalg.norm(directions, axis=0)).astype(np.float32)
        self._demo = self._quantiles(demos)
        alike = [[demo] for demo in demos[:PAIRS_OF]] if len(demos) > 1 else in_turn(demos[0])
        apart = [
            float(np.abs(a - b).mean())
            for a, b in itertools.combinations([self._quantiles(episodes) for episodes in alike], 2)
        ]
        self._again = sum(apart) / max(len(apart), 1)
        self._random = self.distance(random)

    def distance(self, episodes: Sequence[np.ndarray]) -> float:
        """D(episodes, demonstrations)."""
        return float(np.abs(self._quantiles(episodes) - self._demo).mean())

    def __call__(self, episodes: Sequence[np.ndarray]) -> float:
        """1: as alike as the expert is to itself; 0: no more than random actions are; it may be below.

        NaN where random actions are as alike as the expert is to itself: there is nothing to tell.
        """
        if self._random <= self._again:
            return math.nan
        return 1 - (self.distance(episodes) - self._again) / (self._random - self._again)

    def _quantiles(self, episodes: Sequence[np.ndarray]) -> np.ndarray:
        """Of what the directions show, [DIRECTIONS, QUANTILES]."""
        rows = ((transitions(episodes, self._part) - self._mean) * self._scale).astype(np.float32)
        shown = np.sort(self._directions.T @ rows.T, axis=1)
        at = (np.arange(QUANTILES) + 0.5) / QUANTILES * (len(rows) - 1)
        low, high, part = np.floor(at).astype(int), np.ceil(at).astype(int), (at % 1).astype(np.float32)
        return shown[:, low] + part * (shown[:, high] - shown[:, low])


def likeness_to(demos: Demos, envs: Sequence[Env], part: tuple[int, ...] | None = None) -> Likeness:
    """`demos` have the steps of the environments, which play the random actions. Those are the same for all
    runs, so that likeness can be compared: they depend neither on a run's seed nor on how many `envs` are."""
    shape = envs[0].max_steps, RANDOM_EPISODES, envs[0].action_dim
    action = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    starts = [reset_seed(0, RANDOM, k) for k in range(RANDOM_EPISODES)]
    random = play(envs, starts, lambda obs, noise: noise, action)
    return Likeness([obs for obs, _ in demos.episodes()], random.states, part=part)
