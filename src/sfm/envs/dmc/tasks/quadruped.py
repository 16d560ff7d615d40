"""quadruped_stand and quadruped_jump: stay upright; stay upright and high."""

from dm_control.suite import common, quadruped

from sfm.envs.dmc.tasks.rewarded import clip01, rewarded

JUMP_HEIGHT = 1.0  # m, of the centre of mass


def _upright(physics) -> float:
    return (1 + float(physics.torso_upright())) / 2


def _upright_and_high(physics) -> float:
    height = physics.named.data.subtree_com["torso"][2]
    return _upright(physics) * clip01((1 + height / JUMP_HEIGHT) / 2)


def _environment(reward, time_limit, random, environment_kwargs):
    physics = quadruped.Physics.from_xml_string(quadruped.make_model(floor_size=10), common.ASSETS)
    task = quadruped.Move(desired_speed=0, random=random)  # the speed enters the reward alone, which is ours
    return rewarded(physics, task, reward, environment_kwargs, time_limit=time_limit, control_timestep=0.02)


@quadruped.SUITE.add("sfm")
def stand(time_limit=20, random=None, environment_kwargs=None):
    """How upright the torso is."""
    return _environment(_upright, time_limit, random, environment_kwargs)


@quadruped.SUITE.add("sfm")
def jump(time_limit=20, random=None, environment_kwargs=None):
    """How upright the torso is, times the height of the centre of mass, up to JUMP_HEIGHT."""
    return _environment(_upright_and_high, time_limit, random, environment_kwargs)
