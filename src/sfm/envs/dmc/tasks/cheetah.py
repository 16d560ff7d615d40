"""cheetah_walk: run, but slowly."""

from dm_control.rl import control
from dm_control.suite import cheetah

from sfm.envs.dmc.tasks.rewarded import Rewarded, clip01

WALK_SPEED = 2.0  # m/s


@cheetah.SUITE.add("sfm")
def walk(time_limit=10, random=None, environment_kwargs=None):
    """Forward velocity of the centre of mass, up to WALK_SPEED."""
    physics = cheetah.Physics.from_xml_string(*cheetah.get_model_and_assets())
    task = Rewarded(cheetah.Cheetah(random=random), lambda physics: clip01(physics.speed() / WALK_SPEED))
    return control.Environment(physics, task, time_limit=time_limit, **(environment_kwargs or {}))
