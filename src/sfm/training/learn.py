"""Updates: begun on the device while the host goes on, waited for, and reported."""

import itertools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sfm.agents.agent import Agent
from sfm.agents.types import ExpertStates, Spec
from sfm.config import Config, flat, to_dict
from sfm.demos import Demos
from sfm.errors import SfmError
from sfm.training.buffer import Episodes, Table
from sfm.training.clock import Clock, SeedProgress
from sfm.training.device import Device, chosen
from sfm.training.experience import Experience
from sfm.training.keeping import Policies
from sfm.training.streams import FIT, INIT, UPDATE, draws, key

Row = dict[str, Any]
A_SECOND = 6e9  # batch x width^2 x updates of `sfm-td3` on two cores, about
RUNAWAY = 1e8  # no weight of a policy that learns is as large


class Diverged(SfmError):
    """A value became NaN or infinite, or a weight absurdly large."""


class Learning:
    """What the seeds learn from their experience and the demonstrations, and the policies that come of it."""

    def __init__(
        self,
        config: Config,
        agent: Agent,
        clock: Clock,
        experience: Experience,
        demos: Demos | None,
        beginning: Any = None,
    ):
        """`beginning`: the policy that every seed starts with, if any."""
        s = config.schedule
        self.clock, self.experience, self.progress = clock, experience, experience.progress
        arrays = None if demos is None else (demos.obs, demos.length, demos.action)
        self.demos = arrays and ExpertStates(*jax.tree.map(jnp.asarray, arrays))
        form = s.chunk, s.batch, unit_of(config)
        self.device = Device(agent, *form)
        self.resting = Device(agent.resting(), *form)  # where the actor does not learn yet
        self.state = self.device.init([draws(p.seed, INIT, 0) for p in self.progress])
        if beginning is not None:
            self.state = self.device.adopt(self.state, beginning)
        self.begun = 0  # updates of the chunk under way, where it takes several calls
        self.device.compile_ahead(recipe(config, agent.spec), *self.arguments(self._table()))
        self.policies = Policies(s, self.device.policies(self.state))
        self.history: list[tuple[np.ndarray, Any]] = []  # seeds and metrics of the round's updates
        self.seconds = 0.0  # that they took
        self.under_way: tuple[float, np.ndarray] | None = None  # since when, and updates of each seed before
        self.table: Any = None  # of the replay that they learn from

    def arguments(self, table: Any, active: np.ndarray | None = None) -> tuple[Any, ...]:
        """Of `Device.updates`."""
        active = np.ones(len(self.progress), bool) if active is None else active
        keys = jnp.stack([key(p.seed, UPDATE, p.updates) for p in self.progress])
        first = () if self.device.unit == self.device.chunk else (np.int32(self.begun),)
        return self.state, self.experience.replay, table, self.demos, active, keys, *first

    def start(self) -> None:
        """Begin the updates that are due, in compiled chunks; what does not fill one waits."""
        while self._due().any():
            self._next()

    def work(self, stop: Callable[[], bool]) -> bool:
        """Make the updates that are due, call by call; False if it was to stop before the last."""
        while self._due().any():
            if stop():
                self.check(self.device.policies(self.state))  # what cannot go on is not to be saved
                return False
            try:
                self.device.ready(0.5)
            except TimeoutError:
                continue
            self._next()
            jax.block_until_ready(self.history[-1])
        return True

    def _due(self) -> np.ndarray:
        return self._seeds(self.clock.update_due)

    def _next(self) -> None:
        """Begin one call."""
        if self.table is None:
            self.device.ready()
            self.under_way = self.under_way or (time.perf_counter(), self._updates())
            self.table = jax.device_put(self._table())
        due = self._due()
        resting = due & self._seeds(self.clock.actor_rests)
        device, active = (self.resting, resting) if resting.any() else (self.device, due)
        self.state, metrics = device.updates(*self.arguments(self.table, active))
        self.history.append((active, metrics))
        self.begun += device.unit
        if self.begun >= device.chunk:
            self.begun = 0
            for p in itertools.compress(self.progress, active):
                p.owed -= device.chunk
                p.updates += device.chunk

    def _table(self) -> Table:
        table = self.experience.table()
        done = np.array([p.steps for p in self.progress]) / self.clock.schedule.steps
        recent = self.device.agent.objective.recent(np.asarray(table.visits), done.clip(0, 1))
        return table._replace(recent=recent.astype(np.int32))

    def settle(self) -> None:
        """Wait for the updates under way: what they have learned acts from now on."""
        if self.under_way is None:
            return
        begun, before = self.under_way
        current = self.device.policies(self.state)  # waits for the device
        self.seconds += time.perf_counter() - begun
        self.under_way = self.table = None
        try:
            self.check(current)
        except Diverged:
            self.report({i: {} for i in range(len(self.progress))})  # a loss may tell more
            raise
        made = self._updates() - before
        self.policies.learned(current, made.tolist(), self.progress)

    def report(self, rows: dict[int, Row]) -> None:
        """The means of what the round's updates have measured, which must be numbers."""
        history, seconds = jax.device_get(self.history), round(self.seconds, 4)
        self.history, self.seconds = [], 0.0
        described = jax.device_get(self.device.describe(self.state)) if history else {}
        for i, row in rows.items():
            mine = [{k: float(v[i]) for k, v in m.items()} for active, m in history if active[i]]
            if mine:
                row |= {k: float(np.mean([m[k] for m in mine if k in m])) for k in mine[-1]}
                row |= {k: float(v[i]) for k, v in described.items()}
                row |= {"updates": self.progress[i].updates, "burst_seconds": seconds}
                bad = [k for k in mine[-1] if not all(np.isfinite(m[k]) for m in mine if k in m)]
                if bad:
                    raise _diverged(self.progress[i], f"{', '.join(bad)} became NaN or infinite")

    def half(self) -> dict[str, Any]:
        """JSON: where updates that were stopped stand, besides the state itself."""
        before = self._updates() if self.under_way is None else self.under_way[1]
        since = 0.0 if self.under_way is None else time.perf_counter() - self.under_way[0]
        history = [
            (active.tolist(), {name: np.asarray(values).tolist() for name, values in metrics.items()})
            for active, metrics in jax.device_get(self.history)
        ]
        return {"before": before.tolist(), "begun": self.begun, "seconds": since, "history": history}

    def go_on(self, half: dict[str, Any]) -> None:
        """From where updates were stopped."""
        self.under_way = time.perf_counter() - half["seconds"], np.array(half["before"])
        self.begun = half["begun"]
        self.history = [
            (np.array(active), {name: np.array(values, np.float32) for name, values in metrics.items()})
            for active, metrics in half["history"]
        ]

    def check(self, current: list[Any]) -> None:
        """Before they act or are saved: weights may run away in an update that no loss shows."""
        for p, policy in zip(self.progress, current, strict=True):
            if not all(np.abs(x).max(initial=0.0) < RUNAWAY for x in jax.tree.leaves(policy)):
                raise _diverged(p, "the actor's weights ran away")

    def scores(self, episodes: dict[int, Episodes]) -> dict[int, list[float]]:
        """Of some seeds' episodes, under the features of now."""
        if not episodes:
            return {}
        names = ("obs", "length", "terminated", "returns")
        scores = np.asarray(self.device.score(self.state, *self._everyone(episodes, *names)))
        return {i: scores[i].tolist() for i in episodes}

    def refresh(self, fresh: dict[int, Episodes]) -> dict[int, Row]:
        """Learn from some seeds' fresh episodes what wants them; returns what was measured."""
        obs, length = self._everyone(fresh, "obs", "length")
        keys = jnp.stack([key(p.seed, FIT, p.refreshes) for p in self.progress])
        after, metrics = self.device.refresh(self.state, obs, length, self.demos, keys)
        self.state = chosen(np.array([i in fresh for i in range(len(self.progress))]), after, self.state)
        return {i: {f"refresh/{k}": float(v[i]) for k, v in metrics.items()} for i in fresh}

    def _everyone(self, episodes: dict[int, Episodes], *names: str) -> list[np.ndarray]:
        """Arrays of some seeds' episodes over all seeds; others have those of one that is there."""
        some = next(iter(episodes.values()))
        everyone = [episodes.get(i, some) for i in range(len(self.progress))]
        return [np.stack([getattr(e, name) for e in everyone]) for name in names]

    def _seeds(self, question: Callable[[SeedProgress], bool]) -> np.ndarray:
        """Which seeds [S] a question of the clock is true of."""
        return np.array([question(p) for p in self.progress])

    def _updates(self) -> np.ndarray:
        return np.array([p.updates for p in self.progress])


def recipe(c: Config, spec: Spec) -> str:
    """What decides the program of an update besides shapes; the same in every process."""
    s, falls = c.schedule, c.learner.lr_actor_final is not None or c.objective.follows_run
    length = (c.updates, c.refreshes) if falls else None
    parts = c.gamma, c.n_step, c.normalise, c.learner, c.objective, s.chunk, s.batch, length
    parts = *parts, spec.matched, spec.observation
    return repr((*parts, unit_of(c)) if unit_of(c) < s.chunk else parts)


def unit_of(c: Config) -> int:
    """Updates per call, which cannot be stopped: a chunk, or the part of one that takes about a second."""
    widest = max(v for name, v in flat(to_dict(c)) if name.rpartition(".")[2] in ("width", "head_width"))
    most = A_SECOND / (c.seeds * c.schedule.batch * widest**2)
    return max(k for k in range(1, c.schedule.chunk + 1) if c.schedule.chunk % k == 0 and k <= max(most, 1))


def _diverged(p: SeedProgress, what: str) -> Diverged:
    return Diverged(
        f"training diverged: {what} at step {p.steps} of seed {p.seed}; what was saved before is kept. "
        "Lower the learning rates."
    )
