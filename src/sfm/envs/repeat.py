"""One decision for several control steps: the policy acts less often, and its horizon reaches further."""

import math

import numpy as np

from sfm.envs import signals
from sfm.envs.base import SHOWN, Env, as_mujoco, rewarded

DECISION_SECONDS = 0.032  # what an automatic number of control steps per decision comes nearest to


def automatic(control_timestep: float) -> int:
    """As many control steps as come nearest to a decision every 32 milliseconds, at least one."""
    return max(1, round(DECISION_SECONDS / control_timestep))


def repeated(env: Env, times: int) -> Env:
    """`env` with decisions that hold for `times` of its steps."""
    return env if times == 1 else Repeat(env, times)


class Repeat:
    """An environment whose step is `times` steps of another with the same action; rewards add up."""

    def __init__(self, env: Env, times: int):
        self.env, self.times = env, times
        self.name, self.obs_dim, self.action_dim = env.name, env.obs_dim, env.action_dim
        self.low, self.high, self.terminates = env.low, env.high, env.terminates
        self.parallel = getattr(env, "parallel", False)
        self.max_steps = math.ceil(env.max_steps / times)
        self.control_timestep = times * env.control_timestep
        self.reset, self.render, self.close = env.reset, env.render, env.close
        self.rewarded = rewarded(env)
        for name in SHOWN if as_mujoco(env) else ():
            setattr(self, name, getattr(env, name))

    @property
    def obs_names(self) -> tuple[str, ...]:
        return signals.obs_names(self.env)

    @property
    def action_names(self) -> tuple[str, ...]:
        return signals.action_names(self.env)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        total = 0.0
        for _ in range(self.times):
            obs, reward, terminated, truncated = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return obs, total, terminated, truncated  # pyright: ignore[reportPossiblyUnboundVariable]
