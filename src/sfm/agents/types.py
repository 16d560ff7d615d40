"""The values that flow between learner and objective."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jax import Array

from sfm.config import Normalise

Metrics = dict[str, Array]


class Spec(NamedTuple):
    """What an agent must know of its world."""

    obs_dim: int
    action_dim: int
    gamma: float
    n_step: int = 1  # cumulants in a target before the critic speaks
    terminates: bool = False  # whether episodes can end before their time limit
    updates: int = 0  # of the whole run
    refreshes: int = 0  # of the whole run, by fresh episodes
    normalise: Normalise = "none"  # which networks see standardised states
    matched: tuple[int, ...] | None = None  # the dimensions in which the expert is matched; None: all
    observation: tuple[str, ...] = ()  # to which each dimension belongs, by the environment's names; (): one

    @property
    def matched_dim(self) -> int:
        return len(self.columns)

    @property
    def columns(self) -> np.ndarray:
        """The dimensions that are matched."""
        return np.arange(self.obs_dim) if self.matched is None else np.array(self.matched)

    @property
    def hidden(self) -> np.ndarray:
        """The dimensions that are not."""
        return np.setdiff1d(np.arange(self.obs_dim), self.columns)

    @property
    def portion(self) -> np.ndarray:
        """What each dimension that is matched has of its observation, all of whose dimensions have 1."""
        names = np.array(self.observation or ("",) * self.obs_dim)[self.columns]
        _, which, many = np.unique(names, return_inverse=True, return_counts=True)
        return 1 / many[which]

    def part(self, obs: Array) -> Array:
        """What is matched of states [..., o], all that demonstrations may tell: [..., matched_dim]."""
        return obs if self.matched is None else obs[..., self.columns]


class NStep(NamedTuple):
    """What follows a transition within n steps of its episode."""

    obs: Array  # [B, n-1, o], s_{t+1} .. s_{t+n-1}
    next_obs: Array  # [B, n-1, o]
    reward: Array  # [B, n-1]
    weight: Array  # [B, n-1], gamma^1 .. gamma^(n-1); 0 past the end
    last: Array  # [B, o], the state after n steps, or at the end
    discount: Array  # [B], gamma to as many steps; 0 where that state is terminal


class Batch(NamedTuple):
    """A minibatch of transitions."""

    obs: Array  # [B, o]
    action: Array  # [B, a], in [-1, 1]
    next_obs: Array  # [B, o]
    reward: Array  # [B]
    mask: Array  # [B], 0 where next_obs is terminal, else 1
    goal: Array  # [B, o], a future state of the same episode (next_obs where goals are not sampled)
    expert: Array | None = None  # [B], 1 where the transition is the expert's; None: nowhere
    n_step: NStep | None = None  # where targets look more than one step ahead

    def seen(self, see: Callable[[Array], Array]) -> "Batch":
        """With its states as `see` shows them."""
        n = self.n_step
        if n is not None:
            n = n._replace(obs=see(n.obs), next_obs=see(n.next_obs), last=see(n.last))
        return self._replace(obs=see(self.obs), next_obs=see(self.next_obs), goal=see(self.goal), n_step=n)

    def bootstrap_from(self, gamma: float) -> tuple[Array, Array]:
        """The states [B, o] whose value ends the targets, and its discount [B, 1]."""
        if self.n_step is None:
            return self.next_obs, gamma * self.mask[:, None]
        return self.n_step.last, self.n_step.discount[:, None]


class ExpertStates(NamedTuple):
    """Demonstrations on the device; rows are padded to the longest."""

    obs: Array  # [M, T+1, o]; what is not matched means nothing
    length: Array  # [M], transitions of each demonstration
    action: Array | None = None  # [M, T, a]


class Context(NamedTuple):
    """What an update, and each hook of an objective in it, has before it."""

    batch: Batch
    recent: Batch  # an independent minibatch of recent transitions; `batch` where none is asked for
    demos: ExpertStates
    step: Array  # [], counts from 1, without a seed axis: updates, or steps of the actor where it is its turn
    key: Array  # for whoever is given this context, and for no one else


ValueFn = Callable[..., Array]
"""(obs [B, o], key, target=False) -> psi(obs, pi(obs)) [B, d] of the first twin."""
