"""Models and clips with known answers."""

import mujoco
import numpy as np

from sfm.demos.motion import Clip

LEG = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1" pos="0 0 0.5"/>
    <body name="body" pos="0 0 2">
      <joint name="up" type="slide" axis="0 0 1"/>
      <joint name="ahead" type="slide" axis="1 0 0"/>
      <joint name="tilt" type="hinge" axis="0 1 0"/>
      <geom type="sphere" size=".1"/>
      <body name="leg">
        <joint name="hip" type="hinge" axis="0 1 0" range="-60 60" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0 0 -1" size=".05"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

BALL = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="free"/>
      <geom type="box" size=".1 .1 .1"/>
      <body name="arm" pos="0 0 .1">
        <joint name="shoulder" type="ball"/>
        <geom type="box" size=".05 .05 .3" pos="0 0 .3"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def model(xml):
    return mujoco.MjModel.from_xml_string(xml)


class Stage:
    """The least environment that shows its simulation: it observes qpos and qvel."""

    name, control_timestep, max_steps = "stage", 0.02, 100

    def __init__(self, xml):
        self.model = model(xml)
        self.data = mujoco.MjData(self.model)

    def observe(self, qpos, qvel):
        return np.concatenate([qpos, qvel]).astype(np.float32)

    def set_state(self, qpos, qvel):
        return self.observe(qpos, qvel)


def clip(frames=200, frame_time=0.01, degrees=False, **channels):
    """Channels are functions of time, or numbers."""
    times = np.arange(frames) * frame_time
    made = {k: np.broadcast_to(v(times) if callable(v) else v, frames) for k, v in channels.items()}
    return Clip("a clip", frame_time, made, degrees)
