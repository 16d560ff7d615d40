"""What an environment is to the rest of the code."""

from typing import Protocol

import numpy as np


class Env(Protocol):
    """One world, one episode at a time; actions lie in [-1, 1] whatever the actuators expect.

    After an episode has ended (terminated or truncated), `reset` comes before the next `step`.
    """

    name: str  # as given to `make`
    obs_dim: int
    action_dim: int
    low: np.ndarray  # [action_dim], what the actuators take at -1
    high: np.ndarray  # [action_dim], and at 1
    max_steps: int  # steps until the time limit
    terminates: bool  # False if that is the only way in which episodes end
    parallel: bool  # whether most of a step is spent outside Python, so that a thread pays; if left out, not
    control_timestep: float  # seconds per step: the frame rate of a video

    @property
    def obs_names(self) -> tuple[str, ...]:
        """[obs_dim]; where an environment has none, `signals.obs_names` calls them obs[0], obs[1], ..."""
        ...

    @property
    def action_names(self) -> tuple[str, ...]:
        """[action_dim], likewise."""
        ...

    def reset(self, seed: int) -> np.ndarray:
        """Start the episode that `seed` alone determines (0 <= seed < 2**32); obs float32 [obs_dim]."""
        ...

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        """Apply action [action_dim], clipped to [-1, 1]; obs, reward, terminated, truncated."""
        ...

    def render(self, height: int = 240, width: int = 320) -> np.ndarray:
        """The current state as a picture, uint8 [height, width, 3]."""
        ...

    def close(self) -> None:
        """Free what rendering holds."""
        ...
