"""Four tasks that dm_control's suite lacks; importing this registers them, so `suite.load` finds them.

Each is a task of the suite with a reward of `mujoco_step`: same starts, same observations.
"""

from typing import Any

from dm_control.rl import control
from dm_control.suite import cheetah, common, quadruped, walker

from sfm.envs.dmc.mujoco_step import BODIES

ADDED = (("cheetah", "walk"), ("walker", "flip"), ("quadruped", "stand"), ("quadruped", "jump"))


@cheetah.SUITE.add("sfm")
def walk(time_limit=10, random=None, environment_kwargs=None):
    """Forward velocity of the centre of mass, up to WALK_SPEED: run, but slowly."""
    physics = cheetah.Physics.from_xml_string(*cheetah.get_model_and_assets())
    task = cheetah.Cheetah(random=random)
    return _environment(physics, task, "cheetah", "walk", time_limit, None, environment_kwargs)


@walker.SUITE.add("sfm")
def flip(time_limit=25, random=None, environment_kwargs=None):
    """The stand reward times the angular momentum about the centre of mass, up to SPIN."""
    physics = walker.Physics.from_xml_string(*walker.get_model_and_assets())
    task = walker.PlanarWalker(move_speed=0, random=random)
    return _environment(physics, task, "walker", "flip", time_limit, 0.025, environment_kwargs)


@quadruped.SUITE.add("sfm")
def stand(time_limit=20, random=None, environment_kwargs=None, name="stand"):
    """How upright the torso is."""
    physics = quadruped.Physics.from_xml_string(quadruped.make_model(floor_size=10), common.ASSETS)
    task = quadruped.Move(desired_speed=0, random=random)
    return _environment(physics, task, "quadruped", name, time_limit, 0.02, environment_kwargs)


@quadruped.SUITE.add("sfm")
def jump(time_limit=20, random=None, environment_kwargs=None):
    """How upright the torso is, times the height of the centre of mass, up to JUMP_HEIGHT."""
    return stand(time_limit, random, environment_kwargs, name="jump")


def _environment(physics, task: Any, domain: str, name: str, time_limit, control_timestep, kwargs):
    """`task` in all but its reward; its speed, which enters that alone, does not matter."""
    task.get_reward = lambda physics: BODIES[domain](physics.data.ptr)[1][name]()
    return control.Environment(physics, task, time_limit, control_timestep, **(kwargs or {}))
