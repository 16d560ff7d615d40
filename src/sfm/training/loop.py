"""The training loop: collect, add, assess, update, evaluate, log, save. It knows no algorithm.

A round is one episode from each environment of each seed. Everything that decides the next number is in
`Training.arrays` and `Training.meta`, so that a run continues from a saved round as if it had never stopped.
"""

import dataclasses
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sfm.agents.agent import make_agent
from sfm.agents.types import ExpertStates
from sfm.config import Config
from sfm.demos import Demos
from sfm.envs import Env
from sfm.errors import SfmError
from sfm.training import buffer
from sfm.training.assess import Assessment, assess
from sfm.training.buffer import Episodes, Layout
from sfm.training.checkpoint import flatten, unflatten
from sfm.training.device import Device, chosen
from sfm.training.rollout import EVALUATE, REFRESH, TRAIN, acting, reset_seed, rollout

__all__ = ["Diverged", "SeedProgress", "Training"]

Row = dict[str, Any]
ACT, UPDATE, FRESH, FIT, INIT = range(5)  # streams of random keys


class Diverged(SfmError):
    """A value became NaN or infinite."""


@dataclass
class SeedProgress:
    """Where one seed stands."""

    steps: int = 0
    episodes: int = 0
    owed: float = 0.0  # updates that its steps have earned but not yet had
    updates: int = 0
    refreshes: int = 0
    next_eval: int = 0
    next_refresh: int = 0
    assessment: Assessment = field(default_factory=Assessment)


class Training:
    """A run in memory. `rounds()` yields one list of log rows per round."""

    def __init__(self, config: Config, make_env: Callable[[], Env], demos: Demos | None):
        s = self.schedule = config.schedule
        self.config = config
        self.envs = [make_env() for _ in range(s.envs)]
        env = self.envs[0]
        self.seeds = list(range(config.seed, config.seed + config.seeds))
        self.progress = [SeedProgress(next_eval=s.eval_every) for _ in self.seeds]
        self.demos = None if demos is None else _on_device(demos)
        self.agent = make_agent(config, env.obs_dim, env.action_dim)
        self.device = Device(self.agent, s.chunk, s.batch)
        self.keys = jnp.stack([jax.random.key(seed) for seed in self.seeds])
        starts = jnp.stack([self._key(i, INIT, 0) for i in range(len(self.seeds))])
        capacity = s.replay + s.replay // env.max_steps + env.max_steps + 1  # a slot more per episode
        rows = capacity // min(env.max_steps + 1, 16) + 1
        self.layouts = [Layout(capacity, rows) for _ in self.seeds]
        self.replay = buffer.empty(len(self.seeds), capacity, env.obs_dim, env.action_dim)
        self.state = self.device.shapes(starts, self.demos)
        self.device.compile_ahead(*self._update_args(buffer.stack_tables(self.layouts)))
        self.state = self.device.init(starts, self.demos)
        self.current = self.device.policies(self.state)
        self.checkpoint = list(self.current)
        self.seconds = 0.0

    @property
    def done(self) -> bool:
        return not self._running()

    def rounds(self) -> Iterator[list[Row]]:
        """Train until the step budget is used up."""
        while not self.done:
            begin = time.perf_counter()
            rows = self._round()
            self.seconds += time.perf_counter() - begin
            for row in rows:
                row["seconds"] = round(self.seconds, 3)
            yield rows

    # One round, in the order of the algorithm.

    def _round(self) -> list[Row]:
        running = self._running()
        episodes = {i: self._collect(i) for i in running}
        self._add(episodes)
        rows = {i: self._row(i, e) for i, e in episodes.items()}
        self._assess(episodes, rows)
        self._refresh(running, rows)
        self._burst(rows)
        self._evaluate(running, rows)
        return list(rows.values())

    def _running(self) -> list[int]:
        return [i for i, p in enumerate(self.progress) if p.steps < self.schedule.steps]

    def _collect(self, i: int) -> Episodes:
        p = self.progress[i]
        n = len(self.envs)
        starts = [reset_seed(self.seeds[i], TRAIN, p.episodes + k) for k in range(n)]
        key = self._key(i, ACT, p.episodes)
        shape = (self.envs[0].max_steps, n, self.envs[0].action_dim)
        if p.steps < self.schedule.random_steps:
            action = np.asarray(jax.random.uniform(key, shape, minval=-1.0, maxval=1.0))
            episodes = rollout(self.envs, starts, lambda obs, t: action[t])
        else:
            noise = np.asarray(jax.random.normal(key, shape))
            episodes = rollout(self.envs, starts, acting(self.current[i], noise))
        p.episodes += n
        p.steps += int(episodes.length.sum())
        return episodes

    def _add(self, episodes: dict[int, Episodes]) -> None:
        everyone = [episodes.get(i) for i in range(len(self.seeds))]
        self.replay = self.device.add(self.replay, *buffer.rows_of(self.layouts, everyone))

    def _assess(self, episodes: dict[int, Episodes], rows: dict[int, Row]) -> None:
        some = next(iter(episodes.values()))
        everyone = [episodes.get(i, some) for i in range(len(self.seeds))]
        stacked = [np.stack([getattr(e, n) for e in everyone]) for n in ("obs", "length", "returns")]
        scores = np.asarray(self.device.score(self.state, *stacked))
        for i, e in episodes.items():
            p = self.progress[i]
            if p.steps <= self.schedule.random_steps:
                continue
            steps = int(e.length.sum())
            p.assessment, verdict = assess(p.assessment, scores[i].tolist(), steps, p.steps, self.schedule)
            rows[i]["score"] = float(scores[i].mean())
            rows[i]["kept"] = int(verdict.keep)
            if verdict.keep:
                self.checkpoint[i] = self.current[i]
            p.owed += verdict.train * self.schedule.updates_per_step

    def _refresh(self, running: list[int], rows: dict[int, Row]) -> None:
        plan = self.agent.objective.fresh
        due = [i for i in running if plan and self.progress[i].steps >= self.progress[i].next_refresh]
        if not plan or not due:
            return
        fresh = {i: self._fresh_episodes(i, plan.episodes) for i in due}
        some = next(iter(fresh.values()))
        everyone = [fresh.get(i, some) for i in range(len(self.seeds))]
        obs, length = (np.stack([getattr(e, n) for e in everyone]) for n in ("obs", "length"))
        keys = jnp.stack([self._key(i, FIT, self.progress[i].refreshes) for i in range(len(self.seeds))])
        after, metrics = self.device.refresh(self.state, obs, length, self.demos, keys)
        due_seeds = np.array([i in fresh for i in range(len(self.seeds))])
        self.state = chosen(due_seeds, after, self.state)
        for i in due:
            p = self.progress[i]
            p.refreshes += 1
            p.next_refresh += plan.every
            if plan.counted:
                p.steps += int(fresh[i].length.sum())
            rows[i] |= {f"refresh/{k}": float(v[i]) for k, v in metrics.items()}

    def _fresh_episodes(self, i: int, count: int) -> Episodes:
        """Exploring episodes of the current policy that do not enter the replay."""
        p, env = self.progress[i], self.envs[0]
        batches = []
        for begin in range(0, count, len(self.envs)):
            envs = self.envs[: count - begin]
            first = p.refreshes * count + begin
            starts = [reset_seed(self.seeds[i], REFRESH, first + k) for k in range(len(envs))]
            key = jax.random.fold_in(self._key(i, FRESH, p.refreshes), begin)
            noise = np.asarray(jax.random.normal(key, (env.max_steps, len(envs), env.action_dim)))
            batches.append(rollout(envs, starts, acting(self.current[i], noise)))
        return Episodes(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))

    def _burst(self, rows: dict[int, Row]) -> None:
        """All updates that are due, in compiled chunks; what is left over waits for the next round."""
        chunk = self.schedule.chunk
        if not any(p.owed >= chunk for p in self.progress):
            return
        self.device.ready()
        begin = time.perf_counter()
        table = jax.device_put(buffer.stack_tables(self.layouts))
        history: list[tuple[np.ndarray, Any]] = []
        while any(p.owed >= chunk for p in self.progress):
            active = np.array([p.owed >= chunk for p in self.progress])
            self.state, metrics = self.device.updates(*self._update_args(table, active))
            history.append((active, metrics))
            for p in np.array(self.progress)[active]:
                p.owed -= chunk
                p.updates += chunk
        self.current = self.device.policies(self.state)  # waits for the device
        seconds = round(time.perf_counter() - begin, 4)
        for i, row in rows.items():
            mine = [{k: float(v[i]) for k, v in m.items()} for active, m in history if active[i]]
            if mine:
                row |= {k: float(np.mean([m[k] for m in mine])) for k in mine[0]}
                row |= {"updates": self.progress[i].updates, "burst_seconds": seconds}
                bad = [k for k in mine[0] if not all(np.isfinite(m[k]) for m in mine)]
                if bad:
                    raise Diverged(
                        f"training diverged: {', '.join(bad)} became NaN or infinite at step {row['step']} "
                        f"of seed {row['seed']}; the last good checkpoint is kept. Lower the learning rates."
                    )

    def _update_args(self, table: Any, active: np.ndarray | None = None) -> tuple[Any, ...]:
        active = np.ones(len(self.seeds), bool) if active is None else active
        keys = jnp.stack([self._key(i, UPDATE, p.updates) for i, p in enumerate(self.progress)])
        return self.state, self.replay, table, self.demos, active, keys

    def _evaluate(self, running: list[int], rows: dict[int, Row]) -> None:
        for i in running:
            p = self.progress[i]
            finished = p.steps >= self.schedule.steps
            if p.steps < p.next_eval and not finished:
                continue
            while p.next_eval <= p.steps:
                p.next_eval += self.schedule.eval_every
            rows[i]["eval/current"] = float(self.evaluate(i, self.current[i]).mean())
            same = self.checkpoint[i] is self.current[i]
            kept = rows[i]["eval/current"] if same else float(self.evaluate(i, self.checkpoint[i]).mean())
            rows[i]["eval/checkpoint"] = kept

    def evaluate(self, i: int, policy: Any) -> np.ndarray:
        """Returns of `eval_episodes` noise-free episodes, always from the same starts."""
        returns = []
        count = self.schedule.eval_episodes
        for begin in range(0, count, len(self.envs)):
            envs = self.envs[: count - begin]
            starts = [reset_seed(self.seeds[i], EVALUATE, begin + k) for k in range(len(envs))]
            returns.append(rollout(envs, starts, acting(policy)).returns)
        return np.concatenate(returns)

    def _row(self, i: int, episodes: Episodes) -> Row:
        p = self.progress[i]
        returns = float(episodes.returns.mean())
        return {
            "step": p.steps,
            "seed": self.seeds[i],
            "episodes": p.episodes,
            "updates": p.updates,
            "train/return": returns,
        }

    def _key(self, i: int, stream: int, count: int) -> jax.Array:
        return jax.random.fold_in(jax.random.fold_in(self.keys[i], stream), count)

    # What a checkpoint holds.

    def arrays(self) -> dict[str, np.ndarray]:
        used = buffer.slots_used(self.layouts)
        tree = {
            "state": self.state,
            "current": self.current,
            "checkpoint": self.checkpoint,
            "replay": buffer.to_host(self.replay, used),
            "layouts": [layout.state() for layout in self.layouts],
        }
        return flatten(tree)

    def meta(self) -> dict[str, Any]:
        return {"progress": [dataclasses.asdict(p) for p in self.progress], "seconds": self.seconds}

    def restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        def part(name: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(f"{name}/"): v for k, v in arrays.items() if k.startswith(f"{name}/")}

        self.state = unflatten(self.state, part("state"))
        self.current = unflatten(self.current, part("current"))
        self.checkpoint = unflatten(self.checkpoint, part("checkpoint"))
        self.replay = buffer.from_host(self.replay, part("replay"))
        for i, layout in enumerate(self.layouts):
            layout.restore(part(f"layouts/{i}"))
        self.seconds = meta["seconds"]
        for p, saved in zip(self.progress, meta["progress"], strict=True):
            a = saved.pop("assessment")
            p.__dict__.update(saved)
            p.assessment = Assessment(a[0], tuple(a[1]), a[2], a[3])


def _on_device(demos: Demos) -> ExpertStates:
    action = None if demos.action is None else jnp.asarray(demos.action)
    return ExpertStates(jnp.asarray(demos.obs), jnp.asarray(demos.length), action)
