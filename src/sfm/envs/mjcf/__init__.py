"""Environments made from MJCF files: any robot that MuJoCo can load, without a reward."""

from sfm.envs.mjcf.env import MjcfEnv
from sfm.envs.mjcf.files import pack

__all__ = ["MjcfEnv", "pack"]
