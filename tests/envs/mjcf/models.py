"""Small robots for tests, as MJCF."""

from pathlib import Path

import numpy as np

from sfm.config import RobotConfig
from sfm.envs.base import Motion
from sfm.envs.mjcf import MjcfEnv

PLANAR = """
<mujoco>
  <option timestep="0.005" {option}/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="torso" pos="0 0 1">
      <joint name="rootx" type="slide" axis="1 0 0"/>
      <joint name="rootz" type="slide" axis="0 0 1"/>
      <joint name="rooty" axis="0 1 0"/>
      <geom type="capsule" size="0.1" fromto="0 0 0 0 0 0.4"/>
      <body name="leg">
        <joint name="hip" axis="0 1 0" range="-60 60" damping="1"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.8"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="hip" gear="20" ctrlrange="-2 1"/></actuator>
  <sensor><actuatorfrc name="force" actuator="push"/><touch name="foot" site="toe"/></sensor>
  <keyframe><key qpos="0 1 0 0.5"/></keyframe>
</mujoco>
""".replace('fromto="0 0 0 0 0 -0.8"/>', 'fromto="0 0 0 0 0 -0.8"/><site name="toe" pos="0 0 -0.8"/>')

FREE = """
<mujoco>
  <worldbody>
    <body name="ball" pos="1 0 0.2"><freejoint/><geom size="0.2"/></body>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.1"/>
      <body name="arm" pos="0.2 0 0">
        <joint name="shoulder" type="ball" range="0 90"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
        <body pos="0.3 0 0"><joint name="wheel" axis="1 0 0"/><geom size="0.05"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="wheel" ctrlrange="-1 1"/></actuator>
</mujoco>
"""

ARM = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-100 100"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0" mass="3"/>
      <body pos="0.4 0 0">
        <joint axis="0 1 0" range="-100 100"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

MESHED = """
<mujoco>
  <compiler meshdir="shapes"/>
  <include file="parts/world.xml"/>
  <asset><mesh file="tetra.obj"/></asset>
  <worldbody>
    <body><freejoint/><geom type="mesh" mesh="tetra"/>
      <body><joint name="turn" range="-1 1"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="turn" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


def written(folder: Path, text: str, option: str = "") -> Path:
    path = folder / "robot.xml"
    path.write_text(text.replace("{option}", option))
    return path


def meshed(folder: Path) -> Path:
    """A robot in several files."""
    for name in ("shapes", "parts"):
        (folder / name).mkdir(parents=True)
    (folder / "shapes" / "tetra.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    world = '<mujoco><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>'
    (folder / "parts" / "world.xml").write_text(world)
    return written(folder, MESHED)


def made(folder: Path, text: str, motion: Motion | None = None, option: str = "", **config) -> MjcfEnv:
    return MjcfEnv(written(folder, text, option), RobotConfig(**config), motion)


def named(env: MjcfEnv, obs: np.ndarray) -> dict[str, float]:
    return dict(zip(env.obs_names, obs.tolist(), strict=True))
