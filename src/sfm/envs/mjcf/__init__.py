"""Environments made from MJCF files: any robot that MuJoCo can load, without a reward."""

from sfm.envs.mjcf.env import MjcfEnv, Motion
from sfm.envs.mjcf.files import pack

SUFFIXES = (".xml", ".mjcf", ".zip")

__all__ = ["SUFFIXES", "MjcfEnv", "Motion", "pack"]
