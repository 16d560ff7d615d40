"""How fast the compiled updates are: alone, over five seeds, and where networks are so small that only the
calls cost time."""

import dataclasses
import functools
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.flops import ACTION, OBS, STATES, executed, least, steady
from benchmarks.measure import Row, Settings, timed
from sfm.agents.agent import make_agent
from sfm.agents.types import ExpertStates
from sfm.config import Config, SFMConfig, TD7Config
from sfm.presets import DEFAULT, preset
from sfm.training import buffer
from sfm.training.device import Device
from sfm.training.loop import recipe

__all__ = ["dispatch", "seeds", "updates"]

SEEDS = 5
EPISODES = 20  # in replay


def updates(settings: Settings) -> Iterator[Row]:
    """Updates/s, and their FLOP/s over those of products of their largest shapes in JAX and in NumPy."""
    for name in settings.presets:
        config = _shortened(preset(name))
        batch, chunk, width = config.schedule.batch, config.schedule.chunk, _widest(config)
        runs = prepared(config), jax_gemm(batch, width), numpy_gemm(batch, width)
        update, *gemms = timed(*runs, seconds=settings.seconds)
        achieved = executed(preset(name)) * chunk / update
        in_jax, in_numpy = (PRODUCTS * 2 * batch * width**2 / gemm for gemm in gemms)
        yield (
            name,
            {
                "updates_per_s": chunk / update,
                "gflops": achieved / 1e9,
                "gemm_gflops": in_jax / 1e9,
                "numpy_gflops": in_numpy / 1e9,
                "achieved_over_gemm": achieved / in_jax,
                "achieved_over_numpy": achieved / in_numpy,
            },
        )


def seeds(settings: Settings) -> Iterator[Row]:
    """Time of updates of five seeds at once over five times that of one; the TD3 presets and the default."""
    for config in (_shortened(preset(name)) for name in settings.presets):
        if config.learner.kind != "td3" and config.preset != DEFAULT:
            continue
        together, solo = timed(prepared(config, SEEDS), prepared(config), seconds=settings.seconds)
        rate = config.schedule.chunk / solo
        yield config.preset, {"solo_updates_per_s": rate, "together_over_apart": together / (SEEDS * solo)}


def dispatch(settings: Settings) -> Iterator[Row]:
    """Updates/s of tiny networks under scan, over those of the same called one by one."""
    config = preset("sfm-td3-cpu")
    assert isinstance(config.objective, SFMConfig)
    features = dataclasses.replace(config.objective.features, width=8, head_width=8, dim=8, state=0.0)
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


PRODUCTS = 20  # per timed call


def jax_gemm(batch: int, width: int) -> Callable[[], object]:
    """A call of `PRODUCTS` products [batch, width] @ [width, width]."""
    a, b = jnp.ones((batch, width)), jnp.full((width, width), 1 / width)
    many = jax.jit(lambda a, b: jax.lax.fori_loop(0, PRODUCTS, lambda _, x: x @ b, a))
    return lambda: many(a, b).block_until_ready()


def numpy_gemm(batch: int, width: int) -> Callable[[], object]:
    """The same in NumPy."""
    a, b = np.ones((batch, width), np.float32), np.full((width, width), 1 / width, np.float32)
    out = np.empty_like(a)
    return lambda: [np.matmul(a, b, out=out) for _ in range(PRODUCTS)]


@functools.cache
def prepared(config: Config, seeds: int = 1, *, states: int = STATES, calls: int = 1) -> Callable[[], object]:
    """A call that runs `calls` chunks of updates on random replay; the demonstration has `states` states."""
    config = steady(config)
    device = Device(make_agent(config, OBS, ACTION), config.schedule.chunk, config.schedule.batch)
    rng = np.random.default_rng(0)
    episodes = buffer.Episodes(
        rng.standard_normal((EPISODES, STATES + 1, OBS), np.float32),
        rng.uniform(-1, 1, (EPISODES, STATES, ACTION)).astype(np.float32),
        np.zeros((EPISODES, STATES), np.float32),
        np.full(EPISODES, STATES),
        np.zeros(EPISODES, bool),
    )
    capacity = EPISODES * (STATES + 1)
    layouts = [buffer.Layout(capacity, 2000) for _ in range(seeds)]
    rows = buffer.rows_of(layouts, [episodes] * seeds)
    replay = device.add(buffer.empty(seeds, capacity, OBS, ACTION), *rows)
    table = jax.device_put(buffer.stack_tables(layouts))
    shown = episodes.obs[:1, : states + 1], np.array([states]), episodes.action[:1, :states]
    demos = ExpertStates(*map(jnp.asarray, shown))
    keys = jnp.stack([jax.random.key(i) for i in range(seeds)])
    state = device.init([np.random.default_rng(i) for i in range(seeds)])
    rest = replay, table, demos, jnp.ones(seeds, bool), keys
    device.compile_ahead(recipe(config), state, *rest)  # the program that training runs

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


def _shortened(config: Config) -> Config:
    """With calls of about a second."""
    return _chunked(config, 4 if least(config) > 1e9 else 50)


def _widest(config: Config) -> int:
    o = config.objective
    return max(config.learner.width, o.features.width if isinstance(o, SFMConfig) else 0)
