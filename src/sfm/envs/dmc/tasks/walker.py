"""walker_flip: spin forward while standing tall."""

from dm_control.suite import walker

from sfm.envs.dmc.tasks.rewarded import clip01, rewarded

SPIN = 5.0  # kg m^2/s


@walker.SUITE.add("sfm")
def flip(time_limit=25, random=None, environment_kwargs=None):
    """The stand reward times the angular momentum about the centre of mass, up to SPIN."""
    task = walker.PlanarWalker(move_speed=0, random=random)
    stand = task.get_reward

    def reward(physics) -> float:
        # Computed by MuJoCo along with the velocity of the centre of mass, for which walker.xml has a sensor.
        spin = physics.named.data.subtree_angmom["torso"][1]
        return stand(physics) * (5 * clip01(spin / SPIN) + 1) / 6

    physics = walker.Physics.from_xml_string(*walker.get_model_and_assets())
    return rewarded(physics, task, reward, environment_kwargs, time_limit=time_limit, control_timestep=0.025)
