"""Is a run still the same to the bit? Short runs of presets, and digests of everything they leave.

    python -m benchmarks.same record before.json            # at one commit, about three minutes
    python -m benchmarks.same record after.json             # at another, on the same machine
    python -m benchmarks.same compare before.json after.json

Arrays are compared by name; one that only has another name is told as renamed, which is no difference.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sfm import api, storage
from sfm.config import flat, to_dict
from sfm.presets import preset

Digests = dict[str, str]
"""By the name of an array or of an evaluation."""

TASK = "walker_walk"
SMALL = {
    "learner.width": 16,
    "learner.embedding": 16,
    "learner.target_interval": 50,
    "objective.features.width": 16,
    "objective.features.head_width": 16,
    "objective.features.dim": 8,
    "objective.cost.width": 16,
    "objective.inverse.width": 16,
    "objective.refresh_every": 1_000,
    "objective.refresh_episodes": 1,
    "objective.refresh_batch": 64,
    "schedule.steps": 4_000,
    "schedule.random_steps": 1_000,
    "schedule.updates_per_step": 0.1,
    "schedule.batch": 32,
    "schedule.replay": 20_000,
    "schedule.chunk": 50,
    "schedule.eval_every": 2_000,
    "schedule.eval_episodes": 1,
}
ASSESSED = {"schedule.assess_after": 2_000, "schedule.assess_episodes": 2}
ONE_BURST_PER_STEP = {"schedule.steps": 200, "schedule.eval_every": 100}
RUNS: dict[str, dict[str, Any]] = {
    # two seeds at once, each with several environments
    "fast": {
        "seeds": 2,
        "schedule.steps": 12_000,
        "schedule.random_steps": 4_000,
        "schedule.eval_every": 6_000,
    },
    "sfm-td3": ASSESSED,
    "sfm-td7": ASSESSED,
    "sfm-stochastic": ASSESSED,
    "mm-td3-cpu": {},
    "gaifo-td7-cpu": {},
    "opolo-td3-cpu": {},
    "iq-learn-cpu": {},
    "bc": ONE_BURST_PER_STEP,
}


def changes_of(name: str) -> dict[str, Any]:
    """What makes a preset small: of all settings those that it has, since a learner lacks those of others."""
    known = {place for place, _ in flat(to_dict(preset(name)))}
    return {place: value for place, value in (SMALL | RUNS[name]).items() if place in known}


def digest(array: np.ndarray) -> str:
    told = f"{array.dtype}{array.shape}".encode()
    return hashlib.sha256(told + np.ascontiguousarray(array).tobytes()).hexdigest()


def run(name: str, changes: dict[str, Any]) -> Digests:
    """The digests of what a run leaves: the arrays of its last checkpoint and policies, and evaluations."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        rows = api.train(TASK, preset=name, folder=place, **changes).rows
        files = [max(place.glob("checkpoints/*.safetensors")), *sorted(place.glob("policies/*.safetensors"))]
        arrays = {
            f"{path.parent.name}/{path.stem if path.parent.name == 'policies' else 'last'}/{name}": array
            for path in files
            for name, array in storage.read_arrays(path)[0].items()
        }
    found = {name: digest(array) for name, array in arrays.items()}
    for i, row in enumerate(row for row in rows if "eval/kept" in row):
        told = ("step", "seed", "updates", "eval/current", "eval/kept")
        found |= {f"evaluation {i}/{name}": repr(row[name]) for name in told}
    return found


def record(out: Path, names: Iterable[str]) -> None:
    found, taken = {}, set()
    for name in names:
        changes = changes_of(name)
        taken |= set(changes)
        found[name] = run(name, changes)
        print(f"{name}: {len(found[name])} arrays and values", flush=True)
        storage.write_json(out, found)
    for place in sorted((set(SMALL) | {p for name in names for p in RUNS[name]}) - taken):
        print(f"note: no preset has {place} any more, so it was left as it is")


def differences(before: Digests, after: Digests) -> dict[str, list[str]]:
    """Names of what changed, is gone, is new, or (`renamed`, as 'old -> new') has another name only."""
    gone = {name: value for name, value in before.items() if name not in after}
    new = {name: value for name, value in after.items() if name not in before}
    renamed = []
    for old, value in list(gone.items()):
        match = next((name for name in new if new[name] == value), None)
        if match is not None:
            renamed.append(f"{old} -> {match}")
            del gone[old], new[match]
    changed = [name for name in before if name in after and before[name] != after[name]]
    return {"changed": changed, "gone": list(gone), "new": list(new), "renamed": renamed}


def compare(before: dict[str, Digests], after: dict[str, Digests]) -> bool:
    """Whether all runs are the same, but for names; prints what is not."""
    same = True
    for name in dict.fromkeys([*before, *after]):
        found = differences(before.get(name, {}), after.get(name, {}))
        print(f"{name}: {', '.join(f'{len(v)} {kind}' for kind, v in found.items() if v) or 'the same'}")
        for kind, names in found.items():
            for what in names:
                print(f"  {kind} {what}")
            same = same and (kind == "renamed" or not names)
    return same


def main(args: list[str]) -> int:
    match args:
        case ["record", out, *names]:
            os.environ["NPROC"] = "1"  # read when JAX starts; sums then have one order on any machine
            record(Path(out), names or RUNS)
            return 0
        case ["compare", before, after]:
            return int(not compare(*(json.loads(Path(path).read_text()) for path in (before, after))))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
