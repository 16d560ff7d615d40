"""Gymnasium's spaces as shapes, and observations of these shapes as vectors.

A shape is a list of sizes, for a Box, or a dict of shapes by key, for a Dict. Vectors have the parts in the
order of the space's own keys (Gymnasium sorts those of a plain dict), each in C order. JSON keeps both.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space

from sfm.envs.signals import Signal, numbered
from sfm.errors import SfmError

Shape = Any
"""list[int] or dict[str, Shape]"""


def obs_shape(space: Space, task: str, place: str = "") -> Shape:
    """The shape of an observation space, or an error that says why it cannot be one vector."""
    where = f"task '{task}'" + (f", part '{place}'," if place else "")
    if isinstance(space, Dict):
        return {key: obs_shape(part, task, f"{place}/{key}".strip("/")) for key, part in space.items()}
    if not isinstance(space, (Box, MultiBinary)):
        raise SfmError(f"{where} has observations {space}; only a Box, or a Dict of them, can be flattened.")
    if _pixels(space):
        raise SfmError(
            f"{where} observes pixels ({'x'.join(map(str, space.shape))}), which are not supported: learn "
            "from states, or wrap it in a gymnasium.ObservationWrapper that gives features."
        )
    return [int(size) for size in space.shape]


def check_actions(space: Space, task: str) -> None:
    """An error unless actions are bounded numbers."""
    if isinstance(space, (Discrete, MultiDiscrete, MultiBinary)):
        raise SfmError(
            f"task '{task}' has discrete actions ({space}); only continuous ones can be learned here."
        )
    if not (isinstance(space, Box) and space.is_bounded()):
        raise SfmError(
            f"task '{task}' has actions {space}; only a bounded Box is supported: give it finite bounds, as "
            "gymnasium.wrappers.RescaleAction does."
        )


def size(shape: Shape) -> int:
    """How many numbers there are in it."""
    return sum(map(size, shape.values())) if isinstance(shape, dict) else math.prod(shape)


def signals(space: Space, name: str = "") -> Iterator[Signal]:
    """The numbers of an observation space, in the order of the vector; a name has its keys, `goal/x[2]`."""
    if isinstance(space, Dict):
        for key, part in space.items():
            yield from signals(part, f"{name}/{key}" if name else key)
        return
    low, high = (np.broadcast_to(getattr(space, side, default), space.shape or ()) for side, default in SIDES)
    names = numbered(name or "obs", space.shape or ())
    for each in zip(names, low.ravel().tolist(), high.ravel().tolist(), strict=True):
        yield Signal(each[0], "", float(each[1]), float(each[2]))


SIDES = ("low", 0.0), ("high", 1.0)  # of MultiBinary, which does not say


def flatten(shape: Shape, obs: Any, batch: tuple[int, ...] = (), place: str = "") -> np.ndarray:
    """An observation of this shape as a float32 vector, a copy: some environments reuse their arrays.

    `batch`: sizes of axes that come before those of each part, [*batch, o].
    """
    if not isinstance(shape, dict):
        try:
            part = np.asarray(obs, np.float32)
        except (TypeError, ValueError) as error:
            raise SfmError(f"observation{place} must be numbers: {error}") from error
        if part.shape != (*batch, *shape) and part.size != math.prod((*batch, *shape)):
            raise SfmError(f"observation{place} has shape {list(part.shape)}, expected {[*batch, *shape]}")
        return np.array(part.reshape((*batch, -1)))
    if not isinstance(obs, Mapping) or obs.keys() != shape.keys():
        found = ", ".join(map(str, obs)) if isinstance(obs, Mapping) else _said(obs)
        raise SfmError(f"observation{place} must have the keys {', '.join(shape)}; it has {found}")
    parts = [flatten(part, obs[key], batch, f"{place} '{key}'") for key, part in shape.items()]
    return np.concatenate(parts, axis=-1)


def _said(obs: Any) -> str:
    """What was given where a dict should be: an array by its shape."""
    return f"the shape {list(obs.shape)}" if isinstance(obs, np.ndarray) else type(obs).__name__


def batch_of(shape: Shape, obs: Any) -> tuple[int, ...]:
    """() for one observation of this shape, (B,) for a batch; an error if it is neither."""
    if isinstance(shape, dict):
        key = next(iter(shape))
        if not isinstance(obs, Mapping) or key not in obs:
            flatten(shape, obs)  # says what is missing
        return batch_of(shape[key], obs[key])
    sizes = np.shape(obs)
    for before in (0, 1):
        if len(sizes) == before + len(shape) and list(sizes[before:]) == shape:
            return sizes[:before]
    raise SfmError(
        f"observation has shape {list(sizes)}, expected {shape} or {['B', *shape]}".replace("'", "")
    )


def _pixels(space: Space) -> bool:
    """Whether it looks like a picture: whole bytes in two dimensions, or a few channels of many rows."""
    shape = space.shape or ()
    if len(shape) >= 2 and space.dtype == np.uint8:
        return True
    channels = len(shape) == 3 and {shape[0], shape[2]} & {1, 3, 4}
    return bool(channels) and sorted(shape)[1] >= 8
