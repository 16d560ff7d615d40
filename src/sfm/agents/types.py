"""The values that flow between learner and objective."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jax import Array

from sfm.config import Normalise

__all__ = ["Ahead", "Batch", "ExpertStates", "Metrics", "Spec", "ValueFn", "Weigh"]

Metrics = dict[str, Array]


class Spec(NamedTuple):
    """What an agent must know of its world."""

    obs_dim: int
    action_dim: int
    gamma: float
    n_step: int = 1  # cumulants in a target before the critic speaks
    terminates: bool = False  # whether episodes can end before their time limit
    updates: int = 0  # of the whole run
    normalise: Normalise = "none"  # which networks see standardised states


class Ahead(NamedTuple):
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
    ahead: Ahead | None = None  # where targets look more than one step ahead

    def seen(self, see: Callable[[Array], Array]) -> "Batch":
        """With its states as `see` shows them."""
        ahead = self.ahead
        if ahead is not None:
            ahead = ahead._replace(obs=see(ahead.obs), next_obs=see(ahead.next_obs), last=see(ahead.last))
        return self._replace(obs=see(self.obs), next_obs=see(self.next_obs), goal=see(self.goal), ahead=ahead)

    def beyond(self, gamma: float) -> tuple[Array, Array]:
        """The states [B, o] whose value ends the targets, and its discount [B, 1]."""
        if self.ahead is None:
            return self.next_obs, gamma * self.mask[:, None]
        return self.ahead.last, self.ahead.discount[:, None]


class ExpertStates(NamedTuple):
    """Demonstrations on the device; rows are padded to the longest."""

    obs: Array  # [M, T+1, o]
    length: Array  # [M], transitions of each demonstration
    action: Array | None = None  # [M, T, a]


ValueFn = Callable[..., Array]
"""(obs [B, o], key, target=False) -> psi(obs, pi(obs)) [B, d] of the first twin."""

Weigh = Callable[[Array], tuple[Array | None, Any]]
"""psi(obs, pi(obs)) [B, d] on the actor's minibatch -> (weight [d], whatever the objective carries on).
No weight: the actor has no value to climb."""
