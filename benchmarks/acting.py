"""What a trained policy takes to act: one prediction, and the start from `import sfm` to the first action."""

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sfm
from benchmarks.measure import Row, Settings, timed
from sfm.acting import Steps
from sfm.agents.agent import make_agent
from sfm.policy import Policy, save_policy
from sfm.presets import PRESETS

__all__ = ["acting", "bare", "starting"]

EXPERTS = ("walker_walk", "cheetah_run")  # the second of standardised states
OURS = ("general", "general-td7", "fast")
OBS, ACTIONS = 24, 6
ROUNDS = 1000  # so short that others who use the core leave some of them alone
LOAD = "import sfm, numpy; sfm.load_policy('walker_walk').predict(numpy.zeros(24))"
CLOCK = "; import time; print(time.process_time())"


def acting(settings: Settings) -> Iterator[Row]:
    """One prediction over a bare NumPy network of the same sizes."""
    for name in (*EXPERTS, *(OURS[:1] if settings.quick else OURS)):
        policy = fresh(name) if name in OURS else sfm.load_policy(name)
        obs = np.zeros(policy.obs_dim, np.float32)
        runs = [functools.partial(act, obs) for act in (policy.predict, bare(policy))]
        ours, least = timed(*runs, seconds=settings.seconds, rounds=ROUNDS)
        yield name, {"microseconds": ours * 1e6, "predict_over_bare": ours / least}


def starting(settings: Settings) -> Iterator[Row]:
    """Seconds of the processor from `import sfm` to the first action, over those of importing NumPy."""
    rounds = 3 if settings.quick else 7
    first, numpy = (min(seconds(code) for _ in range(rounds)) for code in (LOAD, "import numpy"))
    yield "walker_walk", {"seconds": first, "first_action_over_numpy": first / numpy}


def seconds(code: str) -> float:
    """Of the processor, in a process of its own, from its beginning. NumPy's second thread would count too,
    though it only waits for work."""
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return float(subprocess.check_output([sys.executable, "-c", code + CLOCK], text=True, env=alone))


def fresh(preset: str) -> Policy:
    """An untrained policy of a preset."""
    config, rng = PRESETS[preset], np.random.default_rng(0)
    agent = make_agent(config, OBS, ACTIONS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.safetensors"
        save_policy(path, agent.policy(agent.init(rng)), config, obs_dim=OBS, action_dim=ACTIONS)
        return sfm.load_policy(path)


def bare(policy: Policy) -> Callable[[np.ndarray], np.ndarray]:
    """Its linear layers with ReLU between them and tanh at the end: no norms, no checks."""
    arrays = policy.act.arrays  # pyright: ignore[reportFunctionMemberAccess]

    def follow(steps: Steps, x: Any) -> Any:
        for name, *args in steps:
            if name == "join":
                x = np.concatenate([follow(part, x) for part in args])
            elif name == "linear":
                weight, bias = args
                x = x @ weight + bias
            else:
                x = np.maximum(x, 0)
        return x

    def held(steps: Steps) -> Steps:
        kept = [step for step in steps if step[0] in ("join", "linear", "relu", "elu")]
        return [[n, *(held(a) if isinstance(a, list) else arrays[a] for a in args)] for n, *args in kept]

    steps = held(policy.act.steps)  # pyright: ignore[reportFunctionMemberAccess]
    return lambda obs: np.tanh(follow(steps, obs))
