"""How fast training is, as ratios measured in one run. Run it on an idle machine.

    python benchmarks/speed.py [--preset sfm-td3] [--seconds 5]

- update: achieved FLOP/s of the compiled updates over the machine's GEMM rate at the same shapes
- useful: the least FLOPs an update needs, counted by hand, over those XLA executes
- environments: steps/s in lockstep over a plain dm_control loop, and over bare mj_step
- seeds: time of 5 vmapped seeds over 5 times one
- dispatch: time of an update of tiny networks, where nothing but overhead is left
"""

import dataclasses
import itertools
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from sfm.agents.agent import make_agent
from sfm.agents.types import Batch, ExpertStates
from sfm.config import Config, SFMConfig
from sfm.presets import preset
from sfm.training import buffer
from sfm.training.device import Device

OBS, ACTION, STATES = 24, 6, 1000  # a walker and its demonstration


@dataclass(frozen=True)
class Options:
    """Which preset to measure, and for how long each part."""

    preset: str = "sfm-td3"
    seconds: float = 5.0
    task: str = "walker_walk"


def timed(run: Callable[[], object], seconds: float) -> float:
    """Seconds per call, after one call that compiles."""
    jax.block_until_ready(run())
    count, begin = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - begin < seconds:
        jax.block_until_ready(run())
        count += 1
    return (time.perf_counter() - begin) / count


def gemm_rate(batch: int, width: int, seconds: float) -> float:
    """FLOP/s of JAX's matrix product at the update's largest shapes."""
    a, b = jnp.ones((batch, width)), jnp.ones((width, width))
    repeat = 50
    many = jax.jit(lambda a, b: jax.lax.fori_loop(0, repeat, lambda _, x: (x @ b) * 1e-3, a))
    return repeat * 2 * batch * width * width / timed(lambda: many(a, b), seconds)


def prepared(config: Config, seeds: int = 1) -> Callable[[], object]:
    """A call that runs one chunk of updates on random replay."""
    rng = np.random.default_rng(0)
    s = config.schedule
    device = Device(make_agent(config, OBS, ACTION), s.chunk, s.batch)
    layout = buffer.Layout(20_020, 2000)
    episodes = buffer.Episodes(
        rng.standard_normal((20, STATES + 1, OBS), np.float32),
        rng.uniform(-1, 1, (20, STATES, ACTION)).astype(np.float32),
        np.zeros((20, STATES), np.float32),
        np.full(20, STATES),
        np.zeros(20, bool),
    )
    layouts = [layout] + [buffer.Layout(20_020, 2000) for _ in range(seeds - 1)]
    replay = device.add(
        buffer.empty(seeds, 20_020, OBS, ACTION), *buffer.rows_of(layouts, [episodes] * seeds)
    )
    table = jax.device_put(buffer.stack_tables(layouts))
    demos = ExpertStates(jnp.asarray(episodes.obs[:1]), jnp.array([STATES]))
    keys = jnp.stack([jax.random.key(i) for i in range(seeds)])
    state = [device.init(keys, demos)]
    active = np.ones(seeds, bool)

    def run() -> object:
        state[0], metrics = device.updates(state[0], replay, table, demos, active, keys)
        return metrics

    return run


def executed_flops(config: Config) -> float:
    """FLOPs of one update as XLA counts them, the mean over the actor's delay."""
    agent = make_agent(config, OBS, ACTION)
    b = config.schedule.batch
    wide, flat = (lambda n: jnp.zeros((b, n))), jnp.zeros(b)
    batch = Batch(wide(OBS), wide(ACTION), wide(OBS), flat, flat, wide(OBS))
    demos = ExpertStates(jnp.zeros((1, STATES + 1, OBS)), jnp.array([STATES]))
    state = agent.init(jax.random.key(0), demos)

    def flops(step: int) -> float:
        one = jax.jit(lambda s, b, d: agent.update(s, b, b, d, jnp.array(step), jax.random.key(0)))
        return one.lower(state, batch, demos).compile().cost_analysis()["flops"]  # pyright: ignore

    delay = config.learner.actor_delay
    every = config.objective.expert_interval if isinstance(config.objective, SFMConfig) else 1
    busy, quiet, waiting = flops(delay), flops(2 * delay), flops(1)
    acting = busy / every + quiet * (every - 1) / every if every > 1 else busy
    return (acting + waiting * (delay - 1)) / delay


def least_flops(config: Config) -> float:
    """The least that one update of SFM-TD3 with predictive features needs: matrix products only."""
    c, o = config.learner, config.objective
    assert c.kind == "td3"
    assert isinstance(o, SFMConfig)
    f, b = o.features, config.schedule.batch

    def weights(*sizes: int) -> tuple[int, int]:
        layers = [i * j for i, j in itertools.pairwise(sizes)]
        return sum(layers), layers[0]

    hidden = (c.width,) * c.depth
    actor, actor_in = weights(OBS, *hidden, ACTION)
    critic, critic_in = weights(OBS + ACTION, *hidden, f.dim)
    phi, phi_in = weights(OBS, *(f.width,) * f.depth, f.dim)
    head, _ = weights(f.dim + ACTION, f.head_width, f.head_width, OBS)
    trained = 6 * (phi + head) - 2 * phi_in - 2 * ACTION * f.head_width
    regress = 2 * (6 * critic - 2 * critic_in)
    target = 2 * actor + 2 * 2 * critic
    # through the critic the actor needs the gradient of the actions' columns only
    improve = 6 * actor - 2 * actor_in + 4 * critic - 2 * OBS * c.width
    value = 2 * actor + 2 * critic
    witness = value * ((o.match_from == "start") + (o.witness_batch == "independent"))
    expert = 2 * phi * (STATES + 1) / b / o.expert_interval
    return b * (trained + regress + target + (improve + witness + expert) / c.actor_delay)


def environment_rates(task: str, seconds: float) -> dict[str, float]:
    from sfm.envs import make
    from sfm.training.rollout import rollout

    def rate(run: Callable[[], int]) -> float:
        run()
        steps, begin = 0, time.perf_counter()
        while steps == 0 or time.perf_counter() - begin < seconds:
            steps += run()
        return steps / (time.perf_counter() - begin)

    envs = [make(task) for _ in range(8)]
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (1000, 8, envs[0].action_dim)).astype(np.float32)
    lockstep = rate(lambda: int(rollout(envs, range(8), lambda obs, t: actions[t]).length.sum()))
    from dm_control import suite  # after `make`, which keeps it from looking for a screen

    plain_env = suite.load(*task.split("_", 1))

    def plain() -> int:
        plain_env.reset()
        for t in range(1000):
            plain_env.step(actions[t, 0])
        return 1000

    import mujoco

    model, data = plain_env.physics.model.ptr, plain_env.physics.data.ptr
    substeps = round(plain_env.control_timestep() / plain_env.physics.timestep())

    def bare() -> int:
        for _ in range(1000):
            mujoco.mj_step(model, data, substeps)
        return 1000

    rates = {"lockstep_8": lockstep, "plain_loop": rate(plain), "bare_mj_step": rate(bare)}
    return rates | {
        "lockstep_over_plain": lockstep / rates["plain_loop"],
        "lockstep_over_bare": lockstep / rates["bare_mj_step"],
    }


def measure(options: Options) -> dict:
    config, seconds = preset(options.preset), options.seconds
    chunk, batch = config.schedule.chunk, config.schedule.batch
    solo = timed(prepared(config), seconds)
    results: dict = {"preset": options.preset, "updates_per_second": chunk / solo}
    width = max(config.learner.width, getattr(getattr(config.objective, "features", None), "width", 0))
    gemm = gemm_rate(batch, width, seconds)
    executed = executed_flops(config)
    results["update"] = {
        "gflop_executed": executed / 1e9,
        "gemm_gflops": gemm / 1e9,
        "achieved_over_gemm": executed * chunk / solo / gemm,
    }
    if config.learner.kind == "td3" and config.objective.kind == "sfm":
        results["update"]["useful_over_executed"] = least_flops(config) / executed
    small = dataclasses.replace(
        config,
        learner=dataclasses.replace(config.learner, width=8),
        schedule=dataclasses.replace(config.schedule, batch=8),
    )
    if isinstance(config.objective, SFMConfig):
        features = dataclasses.replace(config.objective.features, width=8, head_width=8, dim=8)
        small = dataclasses.replace(small, objective=dataclasses.replace(config.objective, features=features))
    results["dispatch_microseconds_per_update"] = timed(prepared(small), seconds) / chunk * 1e6
    results["five_seeds_over_five_solo"] = timed(prepared(config, seeds=5), seconds) / (5 * solo)
    results["environment"] = environment_rates(options.task, seconds)
    return results


def machine() -> dict:
    import os

    return {
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "jax": jax.__version__,
    }


if __name__ == "__main__":
    import tyro

    given = tyro.cli(Options, args=sys.argv[1:])
    print(json.dumps({"machine": machine(), **measure(given)}, indent=2))
