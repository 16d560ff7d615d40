"""FLOPs of one update: what XLA executes, against the least that its matrix products need."""

import collections
import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.least import ACTION, OBS, STATES, least
from benchmarks.measure import Row, Settings
from sfm.agents.agent import make_agent
from sfm.agents.objectives.opolo import OPOLO
from sfm.agents.objectives.sfm import SFM
from sfm.agents.types import Context, ExpertStates
from sfm.config import Config, OPOLOConfig
from sfm.presets import preset
from sfm.training import buffer

__all__ = ["ACTION", "OBS", "STATES", "Product", "executed", "flops", "least", "products", "steady"]

BASELINES = ("expert-td3", "mm-td7-cpu", "gaifo-td3-cpu", "opolo-td3-cpu", "iq-learn-cpu", "bc", "bco")


def flops(settings: Settings) -> Iterator[Row]:
    """Least FLOPs of an update over those executed: what is below one is waste or is no matrix product."""
    for name in (*settings.presets, *(() if settings.quick else BASELINES)):
        config = preset(name)
        useful, done = least(config) / 1e9, executed(config) / 1e9
        yield name, {"least_gflop": useful, "executed_gflop": done, "useful_over_executed": useful / done}


def steady(config: Config) -> Config:
    """As it learns after its first updates."""
    if isinstance(config.objective, OPOLOConfig):
        return dataclasses.replace(config, objective=dataclasses.replace(config.objective, inverse_first=0))
    return config


def executed(config: Config) -> float:
    """FLOPs of one update as XLA counts them, the mean over what is done only now and then."""
    return sum(share * program.cost_analysis()["flops"] for share, program in _programs(config))


class Product(NamedTuple):
    """`count` products [rows, inner] @ [inner, columns] at once."""

    count: int
    rows: int
    inner: int
    columns: int

    @property
    def flops(self) -> int:
        return 2 * self.count * self.rows * self.inner * self.columns


def products(config: Config) -> dict[Product, float]:
    """Matrix products of an update and how many it has of each, on average. See `executed`."""
    total: collections.Counter[Product] = collections.Counter()
    for share, program in _programs(config):
        for product in _products(program.as_text()):
            total[product] += share  # pyright: ignore
    return {product: n for product, n in total.items() if n > 1e-9}


def _products(hlo: str) -> Iterator[Product]:
    shapes = dict(re.findall(r"%([\w.-]+) = f32\[([\d,]*)\]", hlo))

    def sizes(name: str) -> list[int]:
        return [int(n) for n in shapes[name].split(",") if n]

    for a, b, rest in re.findall(r" dot\(%([\w.-]+), %([\w.-]+)\)(.*)", hlo):
        batched, summed = (
            math.prod(sizes(a)[int(i)] for found in re.findall(rf"lhs_{kind}_dims={{([\d,]*)}}", rest)
                      for i in found.split(","))
            for kind in ("batch", "contracting")
        )  # fmt: skip
        rows, columns = (math.prod(sizes(x)) // (batched * summed) for x in (a, b))
        yield Product(batched, rows, summed, columns)


@functools.cache
def _programs(config: Config) -> list[tuple[float, Any]]:
    """Compiled programs and the share that each has in an update.

    XLA counts the dearer branch of a condition and one turn of a loop: an update in which all is due. From it
    are taken, by negative shares, the parts that are due only now and then.
    """
    config = steady(config)
    agent = make_agent(config, OBS, ACTION)
    batch, delay, objective = config.schedule.batch, config.learner.actor_delay, agent.objective

    def arguments():
        layout, key = buffer.Layout(2 * STATES, 2), jax.random.key(0)
        stored = buffer.empty(1, 2 * STATES, OBS, ACTION), buffer.stack_tables([layout])
        replay, table = jax.tree.map(lambda x: jnp.asarray(x)[0], stored)
        rows = buffer.sample(replay, table, key, batch, goals=objective.uses_goals, spec=agent.spec)
        recent = buffer.sample(replay, table, key, batch) if objective.uses_recent else rows
        obs, action = jnp.zeros((1, STATES + 1, OBS)), jnp.zeros((1, STATES, ACTION))
        demos = ExpertStates(obs, jnp.array([STATES]), action)
        return agent.init(np.random.default_rng(0)), Context(rows, recent, demos, jnp.array(1), key)

    shapes = jax.eval_shape(arguments)

    def compiled(run: Callable[..., Any]) -> Any:
        return jax.jit(run).lower(*shapes).compile(_QUICKLY)

    if isinstance(objective, SFM) and objective.config.features.interval not in (1, delay):
        raise NotImplementedError("phi learns neither with every update nor with every actor step")
    seldom: list[tuple[Any, float]] = []  # a part, and the updates from one time to the next
    if isinstance(objective, SFM) and objective.config.expert_interval > 1:

        def expert(state, context):
            value = functools.partial(agent.learner.value, state.learner)
            return objective.expert_features(state.objective, value, context.demos, context.key)

        seldom = [(compiled(expert), delay * objective.config.expert_interval)]
    if isinstance(objective, OPOLO):
        cost, inverse = objective._fit_cost, objective._fit_inverse
        seldom = [
            (compiled(lambda s, context: cost(s.objective, context)), objective.config.cost_interval),
            (compiled(lambda s, c: inverse(s.objective, c.batch)), objective.config.inverse_interval),
        ]
    programs = [(1 / delay, compiled(agent.update))]
    programs += [(1 / every - 1 / delay, part) for part, every in seldom]
    if delay > 1:  # without the actor, and without the parts
        rest = compiled(lambda s, context: agent.update(s, context._replace(step=jnp.array(1))))
        programs.append((1 - 1 / delay, rest))
    return programs


# Same operations in less time to compile; only versions that know the second option are given it.
_QUICKLY: dict[str, Any] = {"xla_backend_optimization_level": 0}
if jax.__version__.startswith("0.10."):
    _QUICKLY["xla_cpu_use_fusion_emitters"] = False
