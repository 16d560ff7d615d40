"""Makes what the package bundles from the runs of experts: demonstrations, policies, reference returns.

    python -m benchmarks.bundle runs/expert_*
    python -m benchmarks.bundle --random        # only the returns of random actions, for all tasks
    python -m benchmarks.bundle --states        # only where the simulator stood, in what is bundled

For the task of each run: five demonstrations (the best of twenty noise-free episodes) and the policy, the
kept or the current one, whichever did better in twenty other episodes, go to src/sfm/demos/data, the
mean return of twenty expert episodes to returns.json there, beside that of random actions (measured once; on
the quadruped, which may start on its back, in more episodes), and the run's evaluations to the tables in
results/, series `experts`. Checksums are written anew.
"""

import hashlib
import shutil
import sys
from pathlib import Path

import numpy as np

from benchmarks import records
from sfm import api, storage
from sfm.demos.bundled import DATA, provenance
from sfm.demos.formats import npz_files as npz
from sfm.envs import TASKS, make
from sfm.envs.watched import Watched
from sfm.evaluation.collect import collect
from sfm.evaluation.evaluate import evaluate
from sfm.policy import find_policy, load_policy

EPISODES = 20


def bundle(run: Path) -> str:
    meta = load_policy(run).meta
    task, seed = meta["task"], meta["seed"]
    kept_policy = DATA / f"{task}.safetensors"
    shutil.copy(_better(run, task, seed), kept_policy)
    policy = load_policy(kept_policy)  # a run that goes on may have saved another one meanwhile
    demos, made = collect(make(task), policy, 5, EPISODES)
    npz.save(DATA / f"{task}.npz", demos, provenance=storage.to_json(made))
    known = note(task, expert=made["all_returns_mean"], expert_episodes=EPISODES)
    random = known["random"] if "random" in known else note_random(task)["random"]
    told = {name: made[f"all_returns_{name}"] for name in ("mean", "std", "min")}
    who = records.keep("experts", run) | {"seed": seed, "step": policy.meta["steps"], "episodes": EPISODES}
    command = f"python -m benchmarks.bundle {run}"
    records.put(records.RESULTS / records.FINALS, [who | told | {"command": command}])
    mean, std, least = told.values()
    cost = f"{policy.meta['steps']:,} | {policy.meta['updates']:,}"
    return f"| {task} | {cost} | {mean:.0f} +- {std:.0f}, least {least:.0f} | {random:.0f} |"


def note(task: str, **values: float) -> dict[str, float]:
    """Writes values to the row of a task in returns.json; the whole row."""
    table = DATA / "returns.json"
    returns = storage.read_json(table) if table.exists() else {}
    returns[task] = returns.get(task, {}) | values
    storage.write_json(table, dict(sorted(returns.items())))
    return returns[task]


def note_random(task: str) -> dict[str, float]:
    episodes = 200 if task.startswith("quadruped") else 100
    returns = api.random_returns(task, episodes)
    mean, error = float(returns.mean()), float(returns.std(ddof=1)) / episodes**0.5
    return note(task, random=round(mean, 3), random_error=round(error, 3), random_episodes=episodes)


def note_states(task: str) -> str:
    """Plays the bundled demonstrations again, by seeds and actions, and keeps qpos and qvel beside obs."""
    path = DATA / f"{task}.npz"
    demos, made = npz.load(path), provenance(task)
    env = Watched(make(task))
    states = []
    assert demos.action is not None
    for k, (obs, _) in enumerate(demos.episodes()):
        actions = demos.action[k, : demos.length[k]]
        again = [env.reset(made["reset_seeds"][k]), *(env.step(a)[0] for a in actions)]
        if not np.array_equal(again, obs):
            raise SystemExit(f"{task}: demonstration {k} is not the same again: nothing is written")
        states.append(env.states(k))
    qpos, qvel = (np.stack(part).astype(np.float32) for part in zip(*states, strict=True))
    npz.save(path, demos._replace(qpos=qpos, qvel=qvel, reward=None), provenance=storage.to_json(made))
    return f"{task}: qpos {qpos.shape}, qvel {qvel.shape}"


def _better(run: Path, task: str, seed: int) -> Path:
    """Where starts differ much, the kept policy may owe its place to lucky ones."""
    both = [find_policy(run, which, seed) for which in ("kept", "current")]
    return max(both, key=lambda path: evaluate(make(task), load_policy(path), EPISODES).mean())


def checksums() -> None:
    files = sorted(f for f in DATA.iterdir() if f.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in files]
    storage.write_bytes(DATA / "SHA256SUMS", "".join(lines).encode())


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--random"]:
            for task in TASKS:
                print(task, note_random(task), flush=True)
        elif sys.argv[1:] == ["--states"]:
            for task in TASKS:
                print(note_states(task), flush=True)
        else:
            for folder in sys.argv[1:]:
                print(bundle(Path(folder)), flush=True)
    finally:
        checksums()
