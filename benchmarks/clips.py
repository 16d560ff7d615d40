"""The bundled clips, as they were made: `python -m benchmarks.clips [WALK.mot]`.

walker_run: joint positions of the bundled expert, 30 frames per second. human_walk: the mean of the angles of
hip, knee and ankle over all strides of a recorded walk and over both legs, at 60 moments of a stride.
"""

import sys
from pathlib import Path

import numpy as np

import sfm
from sfm import storage
from sfm.demos.motion import bundled, cycle, joints, read
from sfm.envs import make
from sfm.envs.watched import Watched
from sfm.training.rollout import DEMONSTRATE, play, reset_seed

FPS, SECONDS, AFTER = 30, 4, 2  # it starts from a fall: the clip begins when it runs
MOMENTS = 60


def main(args: list[str]) -> None:
    env = make("walker_run")
    watched = Watched(env)
    play([watched], [reset_seed(0, DEMONSTRATE, 0)], sfm.load_policy("walker_run"))
    qpos, _ = watched.states(0)
    times = AFTER + np.arange(FPS * SECONDS + 1) / FPS
    rows = cycle.sampled(qpos, env.control_timestep, times)
    rows[:, joints.root(env.model).along] -= rows[0, joints.root(env.model).along]
    told = f"the bundled expert of walker_run, {FPS} frames per second; radians and metres"
    write("walker_run", told, joints.names(env.model), times - AFTER, rows, 4)
    for path in args:
        human(path)


def human(path: str) -> None:
    """The mean stride of a recorded walk, as the walker's angles in degrees."""
    clip = read(path)
    c = clip.channels
    legs = [
        np.stack([c["pelvis_tilt"] + c[f"hip_flexion_{s}"], c[f"knee_angle_{s}"], c[f"ankle_angle_{s}"]], 1)
        for s in "rl"
    ]
    found = cycle.period(np.concatenate(legs, 1), clip.frame_time)
    times = np.arange(MOMENTS + 1) / MOMENTS * found.seconds
    still = np.zeros(3, bool)
    right, left = (
        cycle.looped(leg, clip.frame_time, found.seconds, times + half, still)
        for leg, half in zip(legs, (0, found.seconds / 2), strict=True)
    )
    mean = (right + left) / 2
    other = np.roll(mean[:-1], -MOMENTS // 2, axis=0)
    rows = np.concatenate([mean, np.concatenate([other, other[:1]])], 1)
    told = "a person walking on a treadmill: mean over two strides and both legs, degrees\n# cycle"
    names = [f"{side}_{joint}" for side in ("right", "left") for joint in ("hip", "knee", "ankle")]
    write("human_walk", told, names, times, rows, 2)


def write(name: str, told: str, names: list[str], times: np.ndarray, rows: np.ndarray, digits: int) -> None:
    lines = [f"# {told}", ",".join(["time", *names])]
    for time, row in zip(times, rows, strict=True):
        lines.append(",".join([f"{time:.5f}", *(f"{x:.{digits}f}" for x in row)]))
    path = Path(bundled.CLIPS) / f"{name}.csv"
    storage.write_bytes(path, ("\n".join(lines) + "\n").encode())
    print(f"{path}: {len(rows)} frames")


if __name__ == "__main__":
    main(sys.argv[1:])
