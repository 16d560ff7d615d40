"""The training loop: collect, add, assess, update, evaluate, log, save. It knows no algorithm.

A round is one episode from each environment of each seed. Everything that decides the next number is in
`Training.arrays` and `Training.meta`, so that a run continues from a saved round as if it had never stopped.
"""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sfm.agents.agent import make_agent
from sfm.agents.objectives import Offline
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
from sfm.training.rollout import EVALUATE, REFRESH, TRAIN, Act, Rollout, play, reset_seed

__all__ = ["Diverged", "SeedProgress", "Training", "recipe"]

Row = dict[str, Any]
ACT, UPDATE, FRESH, FIT, INIT, WARM = range(6)  # streams of random numbers
RUNAWAY = 1e8  # no weight of a policy that learns is as large


class Diverged(SfmError):
    """A value became NaN or infinite, or a weight absurdly large."""


@dataclass
class SeedProgress:
    """Where one seed stands."""

    steps: int = 0  # in the budget
    collected: int = 0  # those that entered the replay
    episodes: int = 0
    round_steps: int = 0  # in the last round
    kept_steps: int = 0  # where the checkpoint policy was taken
    kept_updates: int = 0
    owed: float = 0.0  # updates that its steps have earned but not yet had
    updates: int = 0
    refreshes: int = 0
    next_eval: int = 0
    next_refresh: int = 0
    assessment: Assessment = field(default_factory=Assessment)


class Training:
    """A run in memory. `rounds()` yields one list of log rows per round."""

    def __init__(
        self, config: Config, make_env: Callable[[], Env], demos: Demos | None, beginning: Any = None
    ):
        """`beginning`: the policy that every seed starts with, if any."""
        s = self.schedule = config.schedule
        self.config = config
        self.make_env = make_env
        self.envs = [make_env() for _ in range(s.envs)]
        env = self.envs[0]
        self.seeds = list(range(config.seed, config.seed + config.seeds))
        self.worlds = [
            self.envs
        ]  # of each seed; where episodes are collected whole, one after another, they share
        for _ in self.seeds[1:]:
            self.worlds.append(
                self.envs if s.bursts_per_episode == 1 else [make_env() for _ in range(s.envs)]
            )
        self.judges: list[Env] = []  # the environments of evaluations, which go on beside the rest
        self.progress = [SeedProgress(next_eval=s.eval_every) for _ in self.seeds]
        self.demos = None if demos is None else _on_device(demos)
        self.agent = make_agent(config, env.obs_dim, env.action_dim, env.terminates)
        if s.envs * env.max_steps > s.replay and not self.agent.objective.offline:
            raise SfmError(
                f"the replay ({s.replay:,} transitions) cannot hold an episode of {env.max_steps:,} steps of "
                f"each of {s.envs} environments: raise schedule.replay or use fewer environments"
            )
        self.device = Device(self.agent, s.chunk, s.batch)
        self.resting = Device(self.agent.resting(), s.chunk, s.batch)  # where the actor does not learn yet
        self.keys = jnp.stack([jax.random.key(seed) for seed in self.seeds])
        self.part = math.ceil(env.max_steps / s.bursts_per_episode)  # steps collected between updates
        self.grows = s.envs == 1  # whether the parts of an episode lie one after another
        longest = env.max_steps if self.grows else self.part
        self.layouts = [Layout.holding(s.replay, longest) for _ in self.seeds]
        capacity = self.layouts[0].capacity
        self.replay = buffer.empty(len(self.seeds), capacity, env.obs_dim, env.action_dim)
        self.state = self.device.init([self._draws(i, INIT, 0) for i in range(len(self.seeds))])
        if beginning is not None:
            self.state = self.device.adopt(self.state, beginning)
        self.device.compile_ahead(recipe(config), *self._update_args(buffer.stack_tables(self.layouts)))
        self.current = self.device.policies(self.state)  # what acts
        self.candidate = list(self.current)  # what may be kept
        self.checkpoint = list(self.current)
        self.history: list[tuple[np.ndarray, Any]] = []  # seeds and metrics of this round's updates
        self.begun: float | None = None  # when the updates under way began,
        self.before = [0 for _ in self.seeds]  # and after how many others
        self.busy = 0.0  # seconds of this round's updates
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
        if self.config.warm_start == "bc" and not any(p.steps for p in self.progress):
            self._warm_start()
        if self.agent.objective.offline:
            rows = self._study(running, self.agent.objective.offline)
        else:
            rows: dict[int, Row] = {i: {} for i in running}
            # the policies that begin this round, beside everything else; at the end of a run, those it leaves
            ahead = {i: self._ahead(self.progress[i]) for i in running}
            unfinished = [i for i in running if self.progress[i].steps + ahead[i] < self.schedule.steps]
            with self._evaluating([i for i in unfinished if self._due(i, ahead[i])], rows):
                episodes = self._collect(running)
                for i, e in episodes.items():
                    rows[i] |= self._row(i, e)
                if self.schedule.assesses:
                    self._assess(episodes, rows)
                self._refresh(running, rows)
                self._learn()
                self._settle()
            self._report(rows)
            if not self.schedule.assesses:
                for i in running:
                    self._keep(i)
        still = self._running()
        last = [i for i in running if self._due(i) or i not in still]
        with self._evaluating(last, rows):
            pass
        return list(rows.values())

    def _ahead(self, p: SeedProgress) -> int:
        """Steps that a round will have, as far as can be told: as many as the last."""
        return p.round_steps or len(self.envs) * self.envs[0].max_steps

    def _running(self) -> list[int]:
        plan = self.agent.objective.offline
        patience = (plan and plan.patience) or math.inf
        going = [p.steps < self.schedule.steps and p.assessment.steps < patience for p in self.progress]
        return [i for i, go_on in enumerate(going) if go_on]

    def _warm_start(self) -> None:
        """Begin with an actor that has cloned the expert's actions."""
        chunk = self.schedule.chunk
        device = Device(self.agent.cloner(), chunk, self.schedule.batch)
        _, *data, _ = self._update_args(buffer.stack_tables(self.layouts))
        state = self.state._replace(objective=())
        for k in range(math.ceil(self.config.warm_start_updates / chunk)):
            keys = jnp.stack([self._key(i, WARM, k) for i in range(len(self.seeds))])
            state, _ = device.updates(state, *data, keys=keys)
        self.state = self.device.restart(self.state, state.learner, state.moments)
        self.current = self.device.policies(self.state)
        self._check_policies()
        self.candidate, self.checkpoint = list(self.current), list(self.current)

    def _study(self, running: list[int], plan: Offline) -> dict[int, Row]:
        """A round without episodes: a chunk of updates, each of them a step. Keeps the best policy."""
        chunk = self.schedule.chunk
        for i in running:
            self.progress[i].steps += chunk
            self.progress[i].owed += chunk
        rows = {i: self._row(i) for i in running}
        self._learn()
        self._settle()
        self._report(rows)
        losses = np.asarray(self.device.validate(self.state, self.demos)) if plan.validated else None
        for i in running:
            p, loss = self.progress[i], 0.0 if losses is None else float(losses[i])
            kept = -loss >= p.assessment.best
            if kept:
                self._keep(i)
            since = 0 if kept else p.assessment.steps + chunk
            p.assessment = Assessment(max(-loss, p.assessment.best), steps=since)
            if losses is not None:
                rows[i] |= {"validation_loss": loss, "kept": int(kept)}
        return rows

    def _collect(self, running: list[int]) -> dict[int, Episodes]:
        """An episode from each environment of each seed. In parts, if the schedule says so, and with the
        updates of one part under way while the next is collected: its policy is that of a part earlier."""
        begun = {i: self._begin(i) for i in running}
        steps, part = self.envs[0].max_steps, self.part
        for until in range(part, steps + part, part):
            new = {i: e.advance(act, min(until, steps)) for i, (e, act) in begun.items()}
            self._settle()
            self._add(new, go_on=self.grows and until > part)
            for i, e in new.items():
                p, taken = self.progress[i], int(e.length.sum())
                if p.collected >= self.schedule.random_steps and not self.schedule.assesses:
                    p.owed += taken * self.schedule.updates_per_step
                p.collected += taken
                p.steps += taken
            if until < steps:
                self._learn()
        for i in running:
            p = self.progress[i]
            p.episodes += len(self.envs)
            p.round_steps = int(begun[i][0].length.sum())
        return {i: e.episodes for i, (e, _) in begun.items()}

    def _begin(self, i: int) -> tuple[Rollout, Act]:
        """The next episodes of a seed, and how it acts in them."""
        p, n = self.progress[i], len(self.envs)
        starts = [reset_seed(self.seeds[i], TRAIN, p.episodes + k) for k in range(n)]
        draw = self._draws(i, ACT, p.episodes)
        shape = (self.envs[0].max_steps, n, self.envs[0].action_dim)
        begun = Rollout(self.worlds[i], starts)
        if p.collected < self.schedule.random_steps:
            action = 2 * draw.random(shape, np.float32) - 1
            return begun, lambda obs, t, group: action[t, group]
        noise = draw.standard_normal(shape, np.float32)
        return begun, lambda obs, t, group: self.current[i](obs, noise[t, group])  # the newest at that time

    def _add(self, episodes: dict[int, Episodes], go_on: bool) -> None:
        if not any(e.length.any() for e in episodes.values()):
            return
        everyone = [episodes.get(i) for i in range(len(self.seeds))]
        self.replay = self.device.add(self.replay, *buffer.rows_of(self.layouts, everyone, go_on=go_on))

    def _assess(self, episodes: dict[int, Episodes], rows: dict[int, Row]) -> None:
        """Judge the policies by their episodes: some are kept, and some are trained on those steps."""
        before = {i: self.progress[i].collected - int(e.length.sum()) for i, e in episodes.items()}
        acted = {i: e for i, e in episodes.items() if before[i] >= self.schedule.random_steps}
        for i, scores in self._scores(acted).items():
            p, steps = self.progress[i], int(acted[i].length.sum())
            p.assessment, verdict = assess(p.assessment, scores, steps, p.steps, self.schedule)
            rows[i] |= {"score": float(np.mean(scores)), "kept": int(verdict.keep)}
            if verdict.keep:
                self._keep(i)
            p.owed += verdict.train * self.schedule.updates_per_step

    def _keep(self, i: int) -> None:
        """The candidate becomes the checkpoint."""
        p = self.progress[i]
        self.checkpoint[i], p.kept_steps, p.kept_updates = self.candidate[i], p.steps, p.updates

    def _scores(self, episodes: dict[int, Episodes]) -> dict[int, list[float]]:
        """Of each seed's episodes, under the features of now."""
        if not episodes:
            return {}
        names = ("obs", "length", "terminated", "returns")
        scores = np.asarray(self.device.score(self.state, *self._everyone(episodes, *names)))
        return {i: scores[i].tolist() for i in episodes}

    def _everyone(self, episodes: dict[int, Episodes], *names: str) -> list[np.ndarray]:
        """Arrays of some seeds' episodes over all seeds; others have those of one that is there."""
        some = next(iter(episodes.values()))
        everyone = [episodes.get(i, some) for i in range(len(self.seeds))]
        return [np.stack([getattr(e, name) for e in everyone]) for name in names]

    def _refresh(self, running: list[int], rows: dict[int, Row]) -> None:
        plan = self.agent.objective.fresh
        due = [i for i in running if plan and self.progress[i].steps >= self.progress[i].next_refresh]
        if not plan or not due:
            return
        fresh = {i: self._fresh_episodes(i, plan.episodes) for i in due}
        obs, length = self._everyone(fresh, "obs", "length")
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
                rows[i]["step"] = p.steps
            rows[i] |= {f"refresh/{k}": float(v[i]) for k, v in metrics.items()}

    def _fresh_episodes(self, i: int, count: int) -> Episodes:
        """Exploring episodes of the current policy that do not enter the replay."""
        p, env = self.progress[i], self.envs[0]
        starts = [reset_seed(self.seeds[i], REFRESH, p.refreshes * count + k) for k in range(count)]
        draw = self._draws(i, FRESH, p.refreshes)
        noise = draw.standard_normal((env.max_steps, count, env.action_dim), np.float32)
        return play(self.envs, starts, self.current[i], noise)

    def _learn(self) -> None:
        """Start the updates that are due, in compiled chunks; what does not fill one waits."""
        chunk, table = self.schedule.chunk, None
        while (due := np.array([p.owed >= chunk for p in self.progress])).any():
            if table is None:
                self.device.ready()
                self.begun, self.before = time.perf_counter(), [p.updates for p in self.progress]
                table = jax.device_put(buffer.stack_tables(self.layouts))
            young = due & np.array([p.updates < self.schedule.actor_start_update for p in self.progress])
            device, active = (self.resting, young) if young.any() else (self.device, due)
            self.state, metrics = device.updates(*self._update_args(table, active))
            self.history.append((active, metrics))
            for p in np.array(self.progress)[active]:
                p.owed -= chunk
                p.updates += chunk

    def _settle(self) -> None:
        """Wait for the updates under way: what they have learned acts from now on."""
        if self.begun is not None:
            self.current = self.device.policies(self.state)  # waits for the device
            self.busy += time.perf_counter() - self.begun
            self.begun = None
            try:
                self._check_policies()
            except Diverged:
                self._report({i: {} for i in range(len(self.seeds))})  # a loss may tell more
                raise
            self.candidate = [self._averaged(i) for i in range(len(self.seeds))]

    def _averaged(self, i: int) -> Any:
        """The current policy of a seed or, if the schedule says so, a moving average with those before it."""
        if not self.schedule.average_updates:
            return self.current[i]
        before, now = self.before[i], self.progress[i].updates
        over = max(self.schedule.average_updates, self.schedule.average_share * now)
        new = 1 - math.exp((before - now) / over)
        return jax.tree.map(lambda x, y: x + np.float32(new) * (y - x), self.candidate[i], self.current[i])

    def _report(self, rows: dict[int, Row]) -> None:
        """The means of what the round's updates have measured, which must be numbers."""
        history, seconds = self.history, round(self.busy, 4)
        self.history, self.busy = [], 0.0
        for i, row in rows.items():
            mine = [{k: float(v[i]) for k, v in m.items()} for active, m in history if active[i]]
            if mine:
                row |= {k: float(np.mean([m[k] for m in mine if k in m])) for k in mine[-1]}
                row |= {"updates": self.progress[i].updates, "burst_seconds": seconds}
                bad = [k for k in mine[-1] if not all(np.isfinite(m[k]) for m in mine if k in m)]
                if bad:
                    raise self._diverged(i, f"{', '.join(bad)} became NaN or infinite")

    def _check_policies(self) -> None:
        """Before they act or are saved: weights may run away in an update that no loss shows."""
        for i, policy in enumerate(self.current):
            if not all(np.abs(x).max(initial=0.0) < RUNAWAY for x in jax.tree.leaves(policy)):
                raise self._diverged(i, "the actor's weights ran away")

    def _diverged(self, i: int, what: str) -> Diverged:
        return Diverged(
            f"training diverged: {what} at step {self.progress[i].steps} of seed {self.seeds[i]}; what was "
            "saved before is kept. Lower the learning rates."
        )

    def _update_args(self, table: Any, active: np.ndarray | None = None) -> tuple[Any, ...]:
        active = np.ones(len(self.seeds), bool) if active is None else active
        keys = jnp.stack([self._key(i, UPDATE, p.updates) for i, p in enumerate(self.progress)])
        return self.state, self.replay, table, self.demos, active, keys

    def _due(self, i: int, ahead: int = 0) -> bool:
        """Whether an evaluation is due, or will be after so many steps; if so, the next one is later."""
        p = self.progress[i]
        due = p.next_eval <= p.steps + ahead
        while p.next_eval <= p.steps + ahead:
            p.next_eval += self.schedule.eval_every
        return due

    @contextlib.contextmanager
    def _evaluating(self, due: list[int], rows: dict[int, Row]) -> Iterator[None]:
        """In here the policies that seeds `due` had on entry are evaluated in another thread."""
        with ThreadPoolExecutor(1) as thread:
            running = [
                (
                    i,
                    self.progress[i].updates,
                    thread.submit(self._returns, i, self.current[i], self.checkpoint[i]),
                )
                for i in due
            ]
            yield
            for i, updates, future in running:
                rows[i]["eval/current"], rows[i]["eval/checkpoint"] = future.result()
                rows[i]["eval/updates"] = updates  # of the current policy

    def _returns(self, i: int, current: Any, checkpoint: Any) -> tuple[float, float]:
        """Of the current policy and the checkpoint policy of a seed."""
        now = float(self.evaluate(i, current).mean())
        return now, now if checkpoint is current else float(self.evaluate(i, checkpoint).mean())

    def evaluate(self, i: int, policy: Any) -> np.ndarray:
        """Returns of `eval_episodes` noise-free episodes, always from the same starts."""
        starts = [reset_seed(self.seeds[i], EVALUATE, k) for k in range(self.schedule.eval_episodes)]
        self.judges = self.judges or [self.make_env() for _ in self.envs]
        return play(self.judges, starts, policy).returns

    def _row(self, i: int, episodes: Episodes | None = None) -> Row:
        p = self.progress[i]
        row = {"step": p.steps, "seed": self.seeds[i], "episodes": p.episodes, "updates": p.updates}
        return row | ({"train/return": float(episodes.returns.mean())} if episodes else {})

    def _key(self, i: int, stream: int, count: int) -> jax.Array:
        """For what is random on the device."""
        return jax.random.fold_in(jax.random.fold_in(self.keys[i], stream), count)

    def _draws(self, i: int, stream: int, count: int) -> np.random.Generator:
        """For what is random on the host, where there is nothing to compile."""
        return np.random.default_rng((self.seeds[i], stream, count, 1))  # reset seeds have no fourth number

    # What a checkpoint holds.

    def arrays(self) -> dict[str, np.ndarray]:
        used = buffer.slots_used(self.layouts)
        tree = {
            "state": self.state,
            "current": self.current,
            "candidate": self.candidate,
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
        self.candidate = unflatten(self.candidate, part("candidate"))
        self.checkpoint = unflatten(self.checkpoint, part("checkpoint"))
        self.replay = buffer.from_host(self.replay, part("replay"))
        for i, layout in enumerate(self.layouts):
            layout.restore(part(f"layouts/{i}"))
        self.seconds = meta["seconds"]
        for p, saved in zip(self.progress, meta["progress"], strict=True):
            best, scores, *rest = saved["assessment"]
            p.__dict__.update(saved | {"assessment": Assessment(best, tuple(scores), *rest)})


def recipe(c: Config) -> str:
    """What decides the program of an update besides shapes; the same in every process."""
    s, length = c.schedule, None if c.learner.lr_actor_final is None else c.updates
    return repr((c.gamma, c.n_step, c.normalise, c.learner, c.objective, s.chunk, s.batch, length))


def _on_device(demos: Demos) -> ExpertStates:
    action = None if demos.action is None else jnp.asarray(demos.action)
    return ExpertStates(jnp.asarray(demos.obs), jnp.asarray(demos.length), action)
