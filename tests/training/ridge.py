"""A world whose episodes can end before their time."""

import numpy as np

from sfm.demos import Demos


class Ridge:
    """A ball on a ridge of the line rolls off it, and the episode ends, unless the action holds it."""

    name, obs_dim, action_dim, max_steps, control_timestep = "ridge", 2, 1, 40, 0.1
    low, high, terminates = -np.ones(1), np.ones(1), True

    def reset(self, seed):
        self.x, self.v, self.t = np.random.default_rng(seed).uniform(-0.05, 0.05), 0.0, 0
        return self.obs()

    def step(self, action):
        self.v += 0.2 * self.x + 0.1 * float(np.clip(action[0], -1, 1))
        self.x, self.t = self.x + 0.3 * self.v, self.t + 1
        over = abs(self.x) > 0.3
        return self.obs(), 1.0, over, self.t >= self.max_steps and not over

    def obs(self):
        return np.array([self.x, self.v], np.float32)


def ridge_demos():
    env, states = Ridge(), []
    for seed in range(5):
        states.append([env.reset(seed)])
        states[-1] += [env.step([-6 * env.x - 6 * env.v])[0] for _ in range(env.max_steps)]
    return Demos.from_list([np.stack(x) for x in states])
