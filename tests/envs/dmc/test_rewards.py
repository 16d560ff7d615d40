"""The ten rewards, computed a second way: from the state, by Jacobians instead of sensors.

Once along random episodes of each task, once along the recorded demonstrations where they are at hand.
"""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sfm.envs import TASKS, make

DEMOS = Path(__file__).parents[4] / "shared" / "demos"
WITH_DEMOS = [task for task in TASKS if task != "quadruped_jump"]  # its height is not observed

# Lowest and highest return among the recorded episodes of each task.
RECORDED = {
    "cheetah_run": (875.03, 889.03),
    "cheetah_walk": (980.06, 983.35),
    "quadruped_run": (900.01, 921.26),
    "quadruped_stand": (990.38, 999.83),
    "quadruped_walk": (990.00, 996.57),
    "walker_flip": (975.03, 995.60),
    "walker_run": (780.13, 786.50),
    "walker_stand": (985.09, 999.82),
    "walker_walk": (977.11, 996.09),
}

needs_demos = pytest.mark.skipif(not DEMOS.is_dir(), reason="the recorded demonstrations are not here")


def demos(name):
    """The recorded demonstrations of a task; none at all would make a test pass without testing."""
    paths = sorted((DEMOS / name).glob("*.npz"))
    assert paths
    return paths


def clip01(x):
    return np.clip(x, 0, 1)


def stand(height, upright):
    standing = np.where(height >= 1.2, 1, 0.1 ** (((1.2 - height) / 0.6) ** 2))
    return (3 * standing + (1 + upright) / 2) / 4


def half(v, target):
    return np.where(v >= target, 1, np.where(v > -target, 0.5 + 0.5 * v / target, 0))


# Each from: velocity (of the centre of mass; of the quadruped's torso, forward), torso height, torso
# upright, angular momentum about y, height of the centre of mass.
FORMULAS = {
    "cheetah_run": lambda v, h, up, spin, z: clip01(v / 10),
    "cheetah_walk": lambda v, h, up, spin, z: clip01(v / 2),
    "walker_stand": lambda v, h, up, spin, z: stand(h, up),
    "walker_walk": lambda v, h, up, spin, z: stand(h, up) * (5 * clip01(v) + 1) / 6,
    "walker_run": lambda v, h, up, spin, z: stand(h, up) * (5 * clip01(v / 8) + 1) / 6,
    "walker_flip": lambda v, h, up, spin, z: stand(h, up) * (5 * clip01(spin / 5) + 1) / 6,
    "quadruped_stand": lambda v, h, up, spin, z: (1 + up) / 2,
    "quadruped_walk": lambda v, h, up, spin, z: (1 + up) / 2 * half(v, 0.5),
    "quadruped_run": lambda v, h, up, spin, z: (1 + up) / 2 * half(v, 5),
    "quadruped_jump": lambda v, h, up, spin, z: (1 + up) / 2 * half(z, 1),
}


class Kinematics:
    """The arguments of FORMULAS from positions and velocities alone."""

    def __init__(self, name):
        self.env = make(name)  # kept alive: it owns the model
        self.model = self.env.physics.model.ptr
        self.data = mujoco.MjData(self.model)
        self.torso = self.model.body("torso").id
        self.local = name.startswith("quadruped")

    def __call__(self, qpos, qvel):
        model, data, torso = self.model, self.data, self.torso
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        jacobian, momentum = np.zeros((2, 3, model.nv))
        mujoco.mj_angmomMat(model, data, momentum, torso)
        mass = model.body_mass[torso:]
        if self.local:
            site = model.sensor_objid[model.sensor("velocimeter").id]
            mujoco.mj_jacSite(model, data, jacobian, None, site)
            forward = data.site_xmat[site].reshape(3, 3)[:, 0] @ jacobian @ qvel
        else:
            forward = 0.0
            for body in range(torso, model.nbody):
                mujoco.mj_jacBodyCom(model, data, jacobian, None, body)
                forward += model.body_mass[body] / mass.sum() * (jacobian[0] @ qvel)
        return (
            forward,
            data.xpos[torso, 2],
            data.xmat[torso, 8],
            momentum[1] @ qvel,
            mass @ data.xipos[torso:, 2] / mass.sum(),
        )


@pytest.mark.parametrize("name", TASKS)
def test_rewards_follow_the_formulas(name):
    env, kinematics = make(name), Kinematics(name)
    rng = np.random.default_rng(0)
    for seed in range(3):
        env.reset(seed)
        for _ in range(60):
            reward = env.step(rng.uniform(-1, 1, env.action_dim))[1]
            data = env.physics.data
            expected = FORMULAS[name](*kinematics(data.qpos, data.qvel))
            assert reward == pytest.approx(expected, abs=1e-9)


def cheetah_state(obs):
    """The horizontal position is not observed, and does not matter."""
    return np.append(0.0, obs[:8]), obs[8:]


def walker_state(obs):
    """Joint angles from the bodies' orientations, which turn about y; hip, knee and ankle about -y."""
    torso, *legs = np.arctan2(obs[1:14:2], obs[0:14:2])
    joints = [
        above - below
        for leg in (legs[:3], legs[3:])
        for above, below in zip([torso, *leg], leg, strict=False)
    ]
    joints = np.mod(np.array(joints) + np.pi, 2 * np.pi) - np.pi  # none can turn by half a circle
    return np.array([obs[14] - 1.3, 0.0, torso, *joints]), obs[15:]


STATES = {"cheetah": cheetah_state, "walker": walker_state}  # the quadruped's heading is not observed


def demo_rewards(name, obs):
    """Rewards [T] of the states obs [T, o]."""
    if name.startswith("quadruped"):
        zeros = np.zeros(len(obs))
        return FORMULAS[name](obs[:, 44], zeros, obs[:, 47], zeros, zeros)
    kinematics = Kinematics(name)
    state = STATES[name.split("_")[0]]
    return [FORMULAS[name](*kinematics(*state(o))) for o in obs]


@needs_demos
@pytest.mark.parametrize("name", WITH_DEMOS)
def test_recorded_demonstrations_have_their_recorded_returns(name):
    lowest, highest = RECORDED[name]
    for path in demos(name):
        total = np.sum(demo_rewards(name, np.load(path)["obs"][1:].astype(np.float64)))
        assert lowest - 0.01 <= total <= highest + 0.01


@needs_demos
@pytest.mark.parametrize("name", [task for task in TASKS if task.split("_")[0] in STATES])
def test_recorded_actions_taken_in_recorded_states_give_the_return_of_the_states(name):
    """The simulator, set to each recorded state in turn, moves to the next one and gives its reward."""
    env, state = make(name), STATES[name.split("_")[0]]
    env.reset(0)
    for path in demos(name):
        demo = np.load(path)
        obs = demo["obs"].astype(np.float64)
        moved, rewards = [], []
        for before, action in zip(obs[:-1], demo["action"][:-1], strict=True):
            env.physics.data.qacc_warmstart[:] = 0
            with env.physics.reset_context():
                env.physics.data.qpos[:], env.physics.data.qvel[:] = state(before)
            after, reward, *_ = env.step(action)
            moved.append(after)
            rewards.append(reward)
        np.testing.assert_allclose(moved, obs[1:], rtol=0, atol=1e-3)
        assert np.sum(rewards) == pytest.approx(np.sum(demo_rewards(name, obs[1:])), abs=0.01)


def test_walker_states_are_recovered_from_observations():
    env = make("walker_walk")
    env.reset(0)
    for _ in range(20):
        obs = env.step(np.full(6, 0.7))[0]
    qpos, qvel = walker_state(obs.astype(np.float64))
    moved = np.mod(qpos - env.physics.data.qpos + np.pi, 2 * np.pi) - np.pi
    np.testing.assert_allclose(np.delete(moved, 1), 0, atol=1e-6)
    np.testing.assert_allclose(qvel, env.physics.data.qvel, rtol=1e-6)


@needs_demos
@pytest.mark.parametrize("name", [task for task in TASKS if task.startswith("quadruped")])
def test_action_t_drives_state_t_through_the_actuators_filter(name):
    centre, reach = np.tile([0, 0.05, 0], 4), np.tile([1, 1.05, 0.8], 4)
    keep = 0.95**4  # time constant 0.1 s, four steps of 5 ms
    for path in demos(name):
        demo = np.load(path)
        activation, control = demo["obs"][:, 32:44], centre + reach * demo["action"][:-1]
        np.testing.assert_allclose(
            activation[1:], keep * activation[:-1] + (1 - keep) * control, rtol=0, atol=1e-6
        )
