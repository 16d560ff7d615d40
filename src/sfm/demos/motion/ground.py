"""The lowest point of a body: its height above the ground, and what it does along the ground."""

from typing import Any, NamedTuple

import numpy as np

from sfm.demos.motion.joints import mujoco

_TYPE = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}")): name for name in (
    "PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH"
)}  # fmt: skip
DOWN = np.array([0.0, 0.0, -1.0])


def floor(model: Any) -> float:
    """The height of the highest plane that belongs to the world, or 0."""
    planes = [i for i in range(model.ngeom) if model.geom_bodyid[i] == 0 and _type(model, i) == "PLANE"]
    return max((float(model.geom_pos[i][2]) for i in planes), default=0.0)


class Touch(NamedTuple):
    """The lowest point of a body in each of N states, and how its matter moves until the next."""

    height: np.ndarray  # [N] above the floor
    slip: np.ndarray  # [N - 1, 2] how far it goes along the ground


def touch(model: Any, qpos: np.ndarray) -> Touch:
    """Of states qpos [N, nq]."""
    geoms = _touching(model)
    position, matrix = _poses(model, qpos, geoms)
    points = _lowest(model, geoms, position, matrix)
    which = points[:, :, 2].argmin(1)
    rows = np.arange(len(qpos))
    lowest = points[rows, which]
    local = np.einsum("nji,nj->ni", matrix[rows, which], lowest - position[rows, which])
    now, then = rows[:-1], rows[1:]
    # The point that is lowest now, later; and where the one that is lowest later was now.
    forward = _at(position, matrix, then, which[:-1], local[:-1]) - lowest[:-1]
    backward = lowest[1:] - _at(position, matrix, now, which[1:], local[1:])
    return Touch(lowest[:, 2] - floor(model), (forward + backward)[:, :2] / 2)


def _at(position, matrix, rows, geom, local) -> np.ndarray:
    """Where points `local` [n, 3] of geoms are in the states `rows`."""
    return position[rows, geom] + np.einsum("nij,nj->ni", matrix[rows, geom], local)


def _touching(model: Any) -> list[int]:
    """Geoms of bodies that move and collide; all that move, if none collides."""
    moving = [i for i in range(model.ngeom) if model.body_weldid[model.geom_bodyid[i]] != 0]
    moving = [i for i in moving if _type(model, i) not in (None, "PLANE")]
    return [i for i in moving if model.geom_contype[i] | model.geom_conaffinity[i]] or moving


def _type(model: Any, geom: int) -> str | None:
    return _TYPE.get(int(model.geom_type[geom]))


def _poses(model: Any, qpos: np.ndarray, geoms: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions [N, G, 3] and rotations [N, G, 3, 3]."""
    data, positions, matrices = mujoco.MjData(model), [], []
    for state in qpos:
        data.qpos[:] = state
        mujoco.mj_kinematics(model, data)
        positions.append(data.geom_xpos[geoms])
        matrices.append(data.geom_xmat[geoms])
    return np.array(positions), np.array(matrices).reshape(len(qpos), -1, 3, 3)


def _lowest(model: Any, geoms: list[int], position: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The lowest point of each geom, [N, G, 3]."""
    down = np.einsum("ngji,j->ngi", matrix, DOWN)  # in the geom's own axes
    local = np.stack([_furthest(model, g, down[:, k]) for k, g in enumerate(geoms)], 1)
    return position + np.einsum("ngij,ngj->ngi", matrix, local)


def _furthest(model: Any, geom: int, down: np.ndarray) -> np.ndarray:
    """The point [N, 3] of a geom that lies furthest in the directions `down` [N, 3]."""
    size, kind, along = model.geom_size[geom], _type(model, geom), np.sign(down) * [0, 0, 1]
    match kind:
        case "SPHERE":
            return size[0] * down
        case "CAPSULE":
            return size[1] * along + size[0] * down
        case "CYLINDER":
            flat = down * [1, 1, 0]
            return size[1] * along + size[0] * flat / np.maximum(np.linalg.norm(flat, axis=1), 1e-9)[:, None]
        case "ELLIPSOID":
            return size**2 * down / np.linalg.norm(size * down, axis=1)[:, None]
        case "BOX":
            return size * np.sign(down)
    mesh = model.geom_dataid[geom]
    first = model.mesh_vertadr[mesh]
    vertices = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
    return vertices[(down @ vertices.T).argmax(1)]
