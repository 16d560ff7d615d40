"""Pictures of a MuJoCo simulation, on machines with and without a display.

dm_control and mujoco pick an OpenGL backend from MUJOCO_GL when they are imported, and complain where
none is. Training needs no pictures: here dm_control is imported without OpenGL, and a backend is looked
for when the first picture is asked for.
"""

import atexit
import contextlib
import functools
import importlib
import os
import platform
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sfm.errors import SfmError

CANDIDATES = {"Linux": ("egl", "osmesa"), "Darwin": ("cgl",)}.get(platform.system(), ("glfw",))

# A failed attempt leaves PyOpenGL set to the wrong platform, or crashes: try in another process.
_ATTEMPT = """
import importlib, sys, mujoco
context = importlib.import_module("mujoco." + sys.argv[1]).GLContext(8, 8)
context.make_current()
mujoco.MjrContext(mujoco.MjModel.from_xml_string("<mujoco/>"), 100).free()
context.free()
"""


def without_gl(load: Callable[[], Any]) -> Any:
    """What `load` gives, which imports dm_control: without OpenGL, unless a backend that works was chosen."""
    asked = os.environ.get("MUJOCO_GL")
    if asked:
        with contextlib.suppress(AttributeError, ImportError, OSError, RuntimeError):
            return load()
    else:
        import mujoco  # noqa: F401  first, so that mujoco.Renderer stays available to others

    os.environ["MUJOCO_GL"] = "disable"
    try:
        return load()
    finally:  # a choice that does not work is told when the first picture is asked for
        if asked:
            os.environ["MUJOCO_GL"] = asked
        else:
            del os.environ["MUJOCO_GL"]


@functools.cache
def choose_backend() -> str:
    """The OpenGL backend that works here, also left in MUJOCO_GL for other libraries to follow."""
    asked = os.environ.get("MUJOCO_GL", "").strip().lower()
    for backend in (asked,) if asked else CANDIDATES:
        attempt = subprocess.run([sys.executable, "-c", _ATTEMPT, backend], capture_output=True)
        if attempt.returncode == 0:
            os.environ["MUJOCO_GL"] = backend
            return backend
    tried = f"MUJOCO_GL={asked} does not work" if asked else f"neither of {', '.join(CANDIDATES)} works"
    raise SfmError(
        f"cannot render: {tried} here. On Debian: apt install libegl1 libegl-mesa0 libgl1-mesa-dri"
        " (for MUJOCO_GL=egl) or libosmesa6 (for MUJOCO_GL=osmesa)."
    )


class Follow(NamedTuple):
    """A camera that goes along beside a body, which moves to the right when it moves along x."""

    body: int
    distance: float
    azimuth: float = 90.0
    elevation: float = -12.0


class Renderer:
    """Pictures of one size from one camera; no shadows, reflections or haze, which cost half the time."""

    def __init__(self, model, camera: str | int | Follow | None, height: int, width: int):
        self._mujoco = mujoco = importlib.import_module("mujoco")
        self.size = (height, width)
        self._model = model
        self._option, self._scene = mujoco.MjvOption(), mujoco.MjvScene(model, maxgeom=1000)
        flags = mujoco.mjtRndFlag
        for flag in (flags.mjRND_SHADOW, flags.mjRND_REFLECTION, flags.mjRND_HAZE):
            self._scene.flags[flag] = False
        self._view = mujoco.MjvCamera()
        if isinstance(camera, Follow):
            self._view.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            self._view.trackbodyid, self._view.distance = camera.body, camera.distance
            self._view.azimuth, self._view.elevation = camera.azimuth, camera.elevation
        elif model.ncam and camera is not None:
            self._view.type = mujoco.mjtCamera.mjCAMERA_FIXED
            self._view.fixedcamid = model.camera(camera).id
        else:
            mujoco.mjv_defaultFreeCamera(model, self._view)

        self._gl: Any = importlib.import_module(f"mujoco.{choose_backend()}").GLContext(width, height)
        # It must go before EGL itself, whose end mujoco registers on the first use of a context, above.
        atexit.register(_close, weakref.ref(self))
        self._gl.make_current()
        window = model.vis.global_  # the largest picture the model allows: as large as asked for
        window.offheight, window.offwidth = max(window.offheight, height), max(window.offwidth, width)
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    def render(self, data) -> np.ndarray:
        """The state in `data`, uint8 [height, width, 3]."""
        mujoco, (height, width) = self._mujoco, self.size
        self._gl.make_current()
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(
            self._model, data, self._option, mujoco.MjvPerturb(), self._view, everything, self._scene
        )
        frame, window = np.empty((height, width, 3), np.uint8), mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(window, self._scene, self._context)
        mujoco.mjr_readPixels(frame, None, window, self._context)
        return frame[::-1].copy()  # OpenGL counts rows from the bottom

    def close(self) -> None:
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None


def _close(reference: weakref.ref[Renderer]) -> None:
    if renderer := reference():
        renderer.close()
