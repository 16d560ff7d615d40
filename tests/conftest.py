"""What several rooms' tests share: settings, demonstrations on a probe, and a run that takes seconds."""

import dataclasses
import gc
import importlib.metadata
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

# The networks here are tiny: compiling takes longer than computing.
flags = "--xla_backend_optimization_level=0"
if importlib.metadata.version("jax").startswith("0.10."):  # a flag that XLA does not know ends the process
    flags += " --xla_cpu_use_fusion_emitters=false"
    flags += " --xla_cpu_parallel_codegen_split_count=1"  # 32 parts, without optimization, take twice as long
os.environ.setdefault("XLA_FLAGS", flags)

import hypothesis
import numpy as np
import pytest

from sfm.config import Config, FeatureConfig, ScheduleConfig, SFMConfig, TD3Config
from sfm.demos import Demos
from sfm.demos.formats import npz_files as npz
from sfm.training.jax_setup import keep_compiled_code

CACHE_BYTES = 2**30
LONGEST = ("sweep/test_engines.py", "pages/test_pages.py", "test_run.py", "cli/", "test_examples.py")

gc.set_threshold(50_000, 20, 20)  # tracing makes many objects, and hardly any of them garbage
os.fsync = lambda file: None  # it waits for the disk, for the sake of a power cut; tests have none

hypothesis.settings.register_profile("sfm", deadline=None)  # a machine may be busy
hypothesis.settings.load_profile("sfm")


def pytest_configure(config: pytest.Config) -> None:
    """What one test compiles serves the others, in whichever process, and the next run of the tests."""
    if "SFM_CACHE" not in os.environ:  # else in a worker, or chosen by who runs the tests
        cache = getattr(config, "cache", None)  # pytest may have been told to keep none
        folder = Path(cache.mkdir("jax") if cache else tempfile.mkdtemp(prefix="sfm-tests-"))
        if sum(path.stat().st_size for path in folder.iterdir()) > CACHE_BYTES:
            shutil.rmtree(folder)
        os.environ["SFM_CACHE"] = str(folder)
    keep_compiled_code()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: at the end, when one process would wait for the other, there are only short ones."""
    here = Path(__file__).parent
    items.sort(key=lambda item: not item.path.relative_to(here).as_posix().startswith(LONGEST))


TINY = Config(
    task="probe_point",
    preset="tiny",
    gamma=0.9,
    learner=TD3Config(width=16),
    objective=SFMConfig(features=FeatureConfig(dim=8, width=16, depth=2, head_width=16)),
    schedule=ScheduleConfig(
        steps=160,
        envs=2,
        random_steps=40,
        batch=16,
        replay=1000,
        chunk=10,
        assess_after=80,
        eval_every=80,
        eval_episodes=2,
        save_seconds=0.0,
    ),
)


def tiny(**changes) -> Config:
    """TINY with top-level fields replaced, or fields of its schedule."""
    names = {f.name for f in dataclasses.fields(ScheduleConfig)}
    schedule = dataclasses.replace(TINY.schedule, **{k: v for k, v in changes.items() if k in names})
    rest = {k: v for k, v in changes.items() if k not in names}
    return dataclasses.replace(TINY, schedule=schedule, **rest)


def equal(a: Any, b: Any) -> bool:
    """Whether two trees have the same arrays."""
    import jax  # not before the flags above are read

    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y) for x, y in leaves)


def point(demos: Demos | None = None, **changes: Any) -> Any:
    """Training on `probe_point`, of three demonstrations unless told, with the smallest agent."""
    from sfm.envs import make
    from sfm.training.loop import Training

    demos = demos or Demos.from_list([walk_to_half(x) for x in (-1.0, 0.0, 1.0)])
    return Training(tiny(**changes), lambda: make("probe_point"), demos)


def trained(training: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Train to the end: the rows of rounds, and those of evaluations."""
    rows = [row for rows in training.rounds() for row in rows]
    return [row for row in rows if "eval/kept" not in row], [row for row in rows if "eval/kept" in row]


def walk_to_half(start: float, steps: int = 20) -> np.ndarray:
    """The states of `probe_point`'s optimal policy, [steps+1, 1]."""
    x = [start]
    for _ in range(steps):
        x.append(x[-1] + np.clip(0.5 - x[-1], -0.2, 0.2))
    return np.array(x, np.float32)[:, None]


@pytest.fixture
def point_demos() -> Demos:
    return Demos.from_list([walk_to_half(x) for x in (-1.0, 0.0, 1.0)])


@pytest.fixture
def acted_demos(point_demos: Demos) -> Demos:
    """The same with their actions."""
    return point_demos._replace(action=np.diff(point_demos.obs, axis=1) / 0.2)


@pytest.fixture
def point_file(point_demos: Demos, tmp_path: Path) -> Path:
    path = tmp_path / "point.npz"
    npz.save(path, point_demos)
    return path
