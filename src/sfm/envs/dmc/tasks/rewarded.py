"""A task of the suite with another reward: same starts, same observations."""

from collections.abc import Callable

from dm_control.rl import control

__all__ = ["Rewarded", "clip01"]


def clip01(x: float) -> float:
    return min(max(x, 0.0), 1.0)


class Rewarded(control.Task):
    """`task` in all but the reward, which is `reward(physics)`."""

    def __init__(self, task: control.Task, reward: Callable):
        self._task, self._reward = task, reward

    def get_reward(self, physics) -> float:
        return self._reward(physics)

    def initialize_episode(self, physics) -> None:
        self._task.initialize_episode(physics)

    def before_step(self, action, physics) -> None:
        self._task.before_step(action, physics)

    def after_step(self, physics) -> None:
        self._task.after_step(physics)

    def get_observation(self, physics):
        return self._task.get_observation(physics)

    def action_spec(self, physics):
        return self._task.action_spec(physics)
