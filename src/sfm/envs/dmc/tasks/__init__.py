"""Four tasks that dm_control's suite lacks; importing this registers them, so `suite.load` finds them."""

from sfm.envs.dmc.tasks import cheetah, quadruped, walker  # noqa: F401  registers on import

__all__ = ["ADDED"]

ADDED = (("cheetah", "walk"), ("walker", "flip"), ("quadruped", "stand"), ("quadruped", "jump"))
