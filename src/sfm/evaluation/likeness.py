"""How alike two behaviours are, without any reward: 1 is the expert again, 0 a policy of random actions.

    likeness = 1 - (D(policy, demonstration) - D(expert again, demonstration))
                 / (D(random actions, demonstration) - D(expert again, demonstration))

D is the sliced Wasserstein distance of order 1 between distributions of (s, s' - s): the mean over random
directions of the area between two cumulative distributions. It tells apart what has equal means, and s' - s
tells a stride from a shuffle through the same poses. The expert again is another demonstration or, where
there is one, its second half beside its first.

Every coordinate is divided by its spread over demonstration and random actions together. By the demonstration
alone, what it holds constant would outweigh everything else.
"""

import itertools
from collections.abc import Sequence

import numpy as np

DIRECTIONS = 512
QUANTILES = 400  # at which two cumulative distributions are compared


def transitions(episodes: Sequence[np.ndarray]) -> np.ndarray:
    """States [T+1, o] of episodes -> (s, s' - s) of all their transitions, [N, 2 o]."""
    return np.concatenate([np.concatenate([e[:-1], np.diff(e, axis=0)], 1) for e in episodes])


class Likeness:
    """Measures episodes by demonstrations; each argument is a list of states [T+1, o]."""

    def __init__(self, demos: Sequence[np.ndarray], random: Sequence[np.ndarray], seed: int = 0):
        rows = [transitions(demos), transitions(random)]
        self._mean = np.mean([r.mean(0) for r in rows], 0)
        second = np.mean([np.square(r - self._mean).mean(0) for r in rows], 0)
        scale = 1 / np.sqrt(np.maximum(second, 1e-12))
        directions = np.random.default_rng(seed).standard_normal((len(scale), DIRECTIONS))
        self._directions = scale[:, None] * directions / np.linalg.norm(directions, axis=0)
        self._demo = self._quantiles(demos)
        middle = len(demos[0]) // 2
        alike = demos if len(demos) > 1 else (demos[0][: middle + 1], demos[0][middle:])
        parts = [self._quantiles([part]) for part in alike]
        self._again = float(np.mean([np.abs(a - b).mean() for a, b in itertools.combinations(parts, 2)]))
        self._random = self.distance(random)

    def distance(self, episodes: Sequence[np.ndarray]) -> float:
        """D(episodes, demonstrations)."""
        return float(np.abs(self._quantiles(episodes) - self._demo).mean())

    def __call__(self, episodes: Sequence[np.ndarray]) -> float:
        """1: as alike as the expert is to itself; 0: no more than random actions are; it may be below."""
        return 1 - (self.distance(episodes) - self._again) / max(self._random - self._again, 1e-12)

    def _quantiles(self, episodes: Sequence[np.ndarray]) -> np.ndarray:
        """Of what the directions show, [QUANTILES, DIRECTIONS]."""
        shown = (transitions(episodes) - self._mean) @ self._directions
        return np.quantile(shown, (np.arange(QUANTILES) + 0.5) / QUANTILES, axis=0)
