"""How fast the compiled updates are: alone, over five seeds, and where networks are so small that only the
calls cost time."""

import dataclasses
import functools
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.flops import ACTION, OBS, STATES, executed, least, products, steady
from benchmarks.measure import Row, Settings, timed
from sfm.agents.agent import make_agent
from sfm.agents.types import ExpertStates
from sfm.config import Config, SFMConfig, TD7Config
from sfm.presets import PRESETS, preset
from sfm.training import buffer
from sfm.training.device import Device
from sfm.training.learn import recipe

__all__ = ["dispatch", "others", "prepared", "running", "seeds", "shortened", "updates"]

SEEDS = 5
EPISODES = 20  # in replay


def updates(settings: Settings) -> Iterator[Row]:
    """Updates/s; the time of their matrix products alone, in JAX and in NumPy, over that of all they do."""
    for name in settings.presets:
        config = shortened(preset(name))
        runs = prepared(config), *products_alone(preset(name))
        update, in_jax, in_numpy = timed(*runs, seconds=settings.seconds)
        rate, flops = config.schedule.chunk / update, executed(preset(name))
        yield (
            name,
            {
                "updates_per_s": rate,
                "gflops": rate * flops / 1e9,
                "achieved_over_gemm": rate * in_jax / UPDATES,
                "achieved_over_numpy": rate * in_numpy / UPDATES,
            },
        )


def others(settings: Settings) -> Iterator[Row]:
    """Updates/s of the presets that `updates` leaves out."""
    for name in PRESETS if not settings.quick else ():
        if name not in settings.presets:
            config = shortened(preset(name))
            (update,) = timed(prepared(config), seconds=settings.seconds / 4)
            yield name, {"updates_per_s": config.schedule.chunk / update}


def seeds(settings: Settings) -> Iterator[Row]:
    """Time of updates of five seeds at once over five times that of one; the TD3 presets."""
    for config in (shortened(preset(name)) for name in settings.presets):
        if config.learner.kind != "td3":
            continue
        together, solo = timed(prepared(config, SEEDS), prepared(config), seconds=settings.seconds)
        rate = config.schedule.chunk / solo
        yield config.preset, {"solo_updates_per_s": rate, "together_over_apart": together / (SEEDS * solo)}


def dispatch(settings: Settings) -> Iterator[Row]:
    """Updates/s of tiny networks under scan, over those of the same called one by one."""
    config = preset("sfm-td3-cpu")
    assert isinstance(config.objective, SFMConfig)
    features = dataclasses.replace(config.objective.features, width=8, head_width=8, dim=8, state_weight=0.0)
    tiny = dataclasses.replace(
        config,
        learner=dataclasses.replace(config.learner, width=8, actor_delay=1),
        objective=dataclasses.replace(config.objective, features=features, expert_interval=1),
        schedule=dataclasses.replace(config.schedule, batch=8),
    )
    chunk = tiny.schedule.chunk
    one_by_one = prepared(_chunked(tiny, 1), states=8, calls=chunk)
    times = timed(prepared(tiny, states=8), one_by_one, seconds=settings.seconds)
    scanned, single = (chunk / time for time in times)
    yield (
        "width 8, batch 8",
        {
            "scan_updates_per_s": scanned,
            "single_updates_per_s": single,
            "microseconds_per_call": 1e6 * (1 / single - 1 / scanned),
            "scan_over_single": scanned / single,
        },
    )


UPDATES = (
    4  # whose products a timed call computes; those of which there are fewer than one in eight are left out
)


def products_alone(config: Config) -> tuple[Callable[[], object], Callable[[], object]]:
    """Calls of the matrix products of `UPDATES` updates and nothing else, in JAX and in NumPy."""
    shapes = [p for p, n in products(config).items() for _ in range(round(UPDATES * n))]
    left = [np.ones((p.count, p.rows, p.inner), np.float32) for p in shapes]
    right = [np.ones((p.count, p.inner, p.columns), np.float32) for p in shapes]
    out = [a @ b for a, b in zip(left, right, strict=True)]
    on_device = jax.device_put((left, right))
    program = jax.jit(lambda left, right: [a @ b for a, b in zip(left, right, strict=True)])

    def in_numpy() -> None:
        for a, b, c in zip(left, right, out, strict=True):
            np.matmul(a, b, out=c)

    return lambda: jax.block_until_ready(program(*on_device)), in_numpy


@functools.cache
def prepared(config: Config, seeds: int = 1, *, states: int = STATES, calls: int = 1) -> Callable[[], object]:
    """A call that runs `calls` chunks of updates on random replay; the demonstration has `states` states."""
    return running(config, seeds, states=states, calls=calls)


def running(
    config: Config,
    seeds: int = 1,
    *,
    states: int = STATES,
    calls: int = 1,
    obs_dim: int = OBS,
    repeats: int = 1,
    demonstrations: int = 1,
) -> Callable[[], object]:
    """The same, not kept for the next who asks. Replay has its episodes `repeats` times."""
    config = steady(config)
    agent = make_agent(config, obs_dim, ACTION)
    device = Device(agent, config.schedule.chunk, config.schedule.batch)
    rng = np.random.default_rng(0)
    episodes = buffer.Episodes(
        rng.standard_normal((EPISODES, STATES + 1, obs_dim), np.float32),
        rng.uniform(-1, 1, (EPISODES, STATES, ACTION)).astype(np.float32),
        np.zeros((EPISODES, STATES), np.float32),
        np.full(EPISODES, STATES),
        np.zeros(EPISODES, bool),
    )
    capacity = repeats * EPISODES * (STATES + 1)
    layouts = [buffer.Layout(capacity, max(2000, repeats * EPISODES + 1)) for _ in range(seeds)]
    replay = buffer.empty(seeds, capacity, obs_dim, ACTION)
    for _ in range(repeats):
        replay = device.add(replay, *buffer.rows_of(layouts, [episodes] * seeds))
    table = buffer.stack_tables(layouts)
    recent = agent.objective.recent(np.asarray(table.visits), np.zeros(seeds)).astype(np.int32)
    table = jax.device_put(table._replace(recent=recent))
    which = np.arange(demonstrations) % EPISODES
    shown = (
        episodes.obs[which, : states + 1],
        np.full(demonstrations, states),
        episodes.action[which, :states],
    )
    demos = ExpertStates(*map(jnp.asarray, shown))
    keys = jnp.stack([jax.random.key(i) for i in range(seeds)])
    state = device.init([np.random.default_rng(i) for i in range(seeds)])
    rest = replay, table, demos, jnp.ones(seeds, bool), keys
    device.compile_ahead(recipe(config, agent.spec), state, *rest)  # the program that training runs

    def run() -> None:
        nonlocal state
        for _ in range(calls):
            state, _ = device.updates(state, *rest)
        jax.block_until_ready(state)

    return run


def _chunked(config: Config, chunk: int) -> Config:
    """With `chunk` updates per call; TD7 then copies its targets once per call."""
    learner = config.learner
    if isinstance(learner, TD7Config):
        learner = dataclasses.replace(learner, target_interval=chunk)
    return dataclasses.replace(
        config, learner=learner, schedule=dataclasses.replace(config.schedule, chunk=chunk)
    )


def shortened(config: Config) -> Config:
    """With calls of about a second."""
    return _chunked(config, 4 if least(config) > 1e9 else 50)
