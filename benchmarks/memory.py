"""Bytes of replay per transition, against 4 * (obs + action): prints one ratio per task domain."""

import json

from sfm.config import ScheduleConfig
from sfm.training.buffer import Layout, empty

SIZES = {"cheetah": (17, 6), "walker": (24, 6), "quadruped": (78, 12)}
STEPS = 1000  # per episode


def measure(obs_dim: int, action_dim: int, transitions: int = ScheduleConfig.replay) -> dict:
    capacity = transitions + transitions // STEPS + STEPS + 1
    replay = empty(1, capacity, obs_dim, action_dim)
    layout = Layout(capacity, capacity // 16 + 1)
    while layout.head + STEPS + 1 <= capacity:
        layout.place(STEPS, False)
    stored = sum(length for _, length, _ in layout.episodes)
    table = sum(array.nbytes for array in layout.table().values())
    actual = (sum(ring.nbytes for ring in replay) + table) / stored
    ideal = 4 * (obs_dim + action_dim) + 4  # and the reward
    return {
        "transitions": stored,
        "bytes_per_transition": round(actual, 2),
        "4*(obs+action)+4": ideal,
        "ratio": round(actual / ideal, 4),
    }


if __name__ == "__main__":
    results = {name: measure(*sizes) for name, sizes in SIZES.items()}
    print(json.dumps(results, indent=2))
    worst = max(r["ratio"] for r in results.values())
    raise SystemExit(f"replay takes {worst:.3f} of the ideal, more than 1.05" if worst > 1.05 else 0)
