"""What a model's joints are: by name, by kind, and those that carry it along."""

import importlib
from typing import Any, NamedTuple

mujoco: Any = importlib.import_module("mujoco")  # its functions are unknown to type checkers

FREE, BALL, SLIDE, HINGE = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("FREE", "BALL", "SLIDE", "HINGE")
)


class Root(NamedTuple):
    """Columns of qpos that carry a model along; None where it cannot move so."""

    x: int | None
    y: int | None
    z: int | None

    @property
    def along(self) -> list[int]:
        return [i for i in (self.x, self.y) if i is not None]


def root(model: Any) -> Root:
    """Of a free joint, or of the slides of the first body."""
    columns: list[int | None] = [None, None, None]
    for i in _of_root(model):
        at = int(model.jnt_qposadr[i])
        if model.jnt_type[i] == FREE:
            return Root(at, at + 1, at + 2)
        if model.jnt_type[i] == SLIDE:
            for k in range(3):
                if model.jnt_axis[i][k] > 0.99 and columns[k] is None:
                    columns[k] = at
    return Root(*columns)


def names(model: Any) -> list[str]:
    """Of all joints, in order; one without a name goes by its number."""
    return [model.joint(i).name or f"joint{i}" for i in range(model.njnt)]


def find(model: Any, name: str) -> Any:
    """The joint of that name."""
    return model.joint(names(model).index(name))


def limbs(model: Any) -> list[str]:
    """The joints that a clip is to move: all but those of the root, unless there are no others."""
    root, every = _of_root(model), names(model)
    return [name for i, name in enumerate(every) if i not in root] or every


def free(model: Any) -> str | None:
    """The free joint of the first body that has one."""
    return next((names(model)[i] for i in _of_root(model) if model.jnt_type[i] == FREE), None)


def _of_root(model: Any) -> list[int]:
    return [i for i in range(model.njnt) if model.body_parentid[model.jnt_bodyid[i]] == 0]


def columns(model: Any, chosen: list[str]) -> list[int]:
    """The columns of qpos that belong to these joints."""
    sizes = {FREE: 7, BALL: 4}
    found = [find(model, name) for name in chosen]
    return [int(j.qposadr[0]) + k for j in found for k in range(sizes.get(int(j.type[0]), 1))]
