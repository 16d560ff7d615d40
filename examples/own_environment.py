"""An environment of your own: a puck on ice learns where to rest, from three demonstrations of states.

python examples/own_environment.py steps=20000
"""

import sys

import gymnasium
import numpy as np

import sfm
from sfm.config import setting

PLACE = np.array([1.0, 0.5])  # only the expert knows it: no reward, no action and no observation tells


class Puck(gymnasium.Env):
    """Place and speed in two directions [4]; an action pushes [2]. A step takes a twentieth of a second."""

    observation_space = gymnasium.spaces.Box(-2, 2, (4,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = self.np_random.normal(0, 0.5, 4).clip(-2, 2)
        return self.state.astype(np.float32), {}

    def step(self, action):
        place, speed = self.state[:2], self.state[2:]
        speed = speed + (3 * np.asarray(action) - 0.2 * speed) / 20
        self.state = np.clip([*place + speed / 20, *speed], -2, 2)
        return self.state.astype(np.float32), 0.0, False, False, {}


def expert(state):
    return np.clip(PLACE - state[:2] - state[2:], -1, 1)


if __name__ == "__main__":
    settings = {"steps": 30_000, **dict(map(setting, sys.argv[1:]))}
    gymnasium.register("Puck-v0", Puck, max_episode_steps=200)

    with sfm.record(gymnasium.make("Puck-v0"), "puck.npz") as env:  # every episode that ends is saved
        for seed in range(3):
            state, _ = env.reset(seed=seed)
            for _ in range(200):
                state, *_ = env.step(expert(state))

    result = sfm.train("Puck-v0", "puck.npz", **settings)

    env = gymnasium.make("Puck-v0")
    state, _ = env.reset(seed=9)
    for second in range(10):
        print(f"after {second} s: {np.linalg.norm(state[:2] - PLACE):.2f} from the place")
        for _ in range(20):
            action, _ = result.policy.predict(state)
            state, *_ = env.step(action)
