"""A module such as users have: environments, one of them registered."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict


class Slide(gymnasium.Env):
    """A point between walls at -`wall` and `wall`, in shapes of its own."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, wall=1.0):
        self.wall, self.x = wall, 0.0
        self.observation_space = Dict({"place": Box(-wall, wall, (1, 2)), "far": Box(-9, 9, ())})
        self.action_space = Box(-2, 2, (2, 1), np.float32)

    def observed(self):
        return {"place": np.full((1, 2), self.x, np.float32), "far": np.array(self.wall - self.x, np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-self.wall, self.wall))
        return self.observed(), {}

    def step(self, action):
        assert action.shape == (2, 1)
        self.x = float(np.clip(self.x + 0.1 * action[0, 0], -self.wall, self.wall))
        return self.observed(), -abs(self.x), False, False, {}


class Unrecorded(gymnasium.Wrapper):
    """A wrapper that does not keep what it was made with."""


class Half(gymnasium.ActionWrapper, gymnasium.utils.RecordConstructorArgs):
    """One that does."""

    def __init__(self, env, share=0.5):
        gymnasium.utils.RecordConstructorArgs.__init__(self, share=share)
        super().__init__(env)
        self.share = share

    def action(self, action):
        return self.share * action


def limited(wall=1.0):
    """A factory; what it makes has no spec."""
    return gymnasium.wrappers.TimeLimit(Slide(wall), 10)


gymnasium.register("OwnSlide-v0", "tests.envs.own_worlds:Slide", max_episode_steps=10)
