"""cheetah_walk: run, but slowly."""

from dm_control.suite import cheetah

from sfm.envs.dmc.tasks.rewarded import clip01, rewarded

WALK_SPEED = 2.0  # m/s


def _forward(physics) -> float:
    return clip01(physics.speed() / WALK_SPEED)


@cheetah.SUITE.add("sfm")
def walk(time_limit=10, random=None, environment_kwargs=None):
    """Forward velocity of the centre of mass, up to WALK_SPEED."""
    physics = cheetah.Physics.from_xml_string(*cheetah.get_model_and_assets())
    task = cheetah.Cheetah(random=random)
    return rewarded(physics, task, _forward, environment_kwargs, time_limit=time_limit)
