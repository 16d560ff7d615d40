"""The show: one simulation that all who watch see and may touch. It runs in the thread that made it.

Other threads tell it what to do, `ask`, and take what there is to see, `newest`. Nobody watches: it rests.
"""

import contextlib
import io
import math
import os
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfm.demos import Demos, bundled
from sfm.demos.matching import aligned, matched
from sfm.envs import Env
from sfm.envs.base import as_mujoco, rewarded
from sfm.errors import SfmError
from sfm.evaluation.playback import Playback
from sfm.policy import find_policy, load_policy
from sfm.robots import remembered
from sfm.run import reopen

FPS = 30.0
SPEEDS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
PUSH_SECONDS = 0.15
STRONGEST = 20.0  # of pushes, in weights of the body
LIKENESS_EVERY = 1.0  # seconds: it takes tens of milliseconds
LONGEST_GAP = 0.5  # seconds between pictures, beyond which the simulation falls behind the clock


class Seen(NamedTuple):
    number: int
    picture: bytes  # JPEG
    state: dict[str, Any]


class Show:
    def __init__(self, what: str, seed: int | None = None, height: int = 300):
        """`what`: a run, a policy file or the task of a bundled expert; `seed`: whose policy, in a run."""
        run = reopen(Path(what)) if os.path.isdir(what) else None
        self.path = find_policy(what, seed=seed)
        self.policy, self._written = load_policy(self.path), self.path.stat().st_mtime_ns
        make = run.world.make if run else remembered(self.policy.meta).make
        self.env: Env = make()
        self.shown, self.size = as_mujoco(self.env), (height, height * 4 // 3)
        demos = run.demos if run else bundled.bundled(self.env.name)
        self.beside = Playback.of(demos, make()) if demos is not None and demos.qpos is not None else None
        self._alike = self._likeness(demos, run.config.match if run else ())
        self._asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._newest: Seen | None = None
        self.watchers = 0
        self.paused, self.speed, self.fps = False, 1.0, 0
        self._begin(None)
        self._publish()  # an error, if nothing can be rendered here

    def _likeness(self, demos: Demos | None, match: tuple[str, ...]) -> Any:
        """How alike an episode's states at decisions are to the demonstrations; None where there are none."""
        from sfm.envs.repeat import repeated
        from sfm.training.likeness import likeness_to

        if demos is None:
            return None
        env = repeated(self.env, self.policy.action_repeat)
        thinned = aligned(demos.thinned(self.policy.action_repeat), env)
        return likeness_to(thinned, [env], matched(demos, match, env))

    # What other threads may call.

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Somebody watches while the block lasts."""
        with self._changed:
            self.watchers += 1
        try:
            yield
        finally:
            with self._changed:
                self.watchers -= 1

    def ask(self, words: dict[str, Any]) -> None:
        """E.g. {"do": "reset", "seed": 3}; what makes no sense is left out."""
        self._asked.put(words)

    def newest(self, after: int, wait: float = 1.0) -> Seen | None:
        """What there is to see once its number is beyond `after`; None if that takes longer than `wait`."""
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None and self._newest.number > after, wait)
            seen = self._newest
        return seen if seen is not None and seen.number > after else None

    # The thread of the show.

    def go_on(self, stop: threading.Event) -> None:
        """Until `stop` is set."""
        owed, last, frames = 0.0, time.monotonic(), list[float]()
        while not stop.is_set():
            changed = self.obey(last + 1 / FPS - time.monotonic())
            now = time.monotonic()
            gone, last = min(now - last, LONGEST_GAP), now  # few pictures: each of them is further on
            if self.watchers and not self.paused:
                owed += gone * self.speed / self.env.control_timestep
                while owed >= 1 and time.monotonic() < now + 2 / FPS:
                    self._step()
                    owed, changed = owed - 1, True
                owed = min(owed, 1.0)
            if changed:
                frames = [then for then in frames if then > now - 1] + [now]
                self.fps = len(frames)
                self._publish()

    def close(self) -> None:
        self.env.close()
        if self.beside is not None:
            self.beside.env.close()

    def obey(self, seconds: float) -> bool:
        """Do what was asked for until that much time has passed; whether anything was."""
        end, asked = time.monotonic() + seconds, False
        while True:
            try:
                words = self._asked.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                return asked
            asked = True
            try:
                self._do(words)
            except (KeyError, TypeError, ValueError, OverflowError):
                continue

    def _do(self, words: dict[str, Any]) -> None:
        what = words["do"]
        if what == "pause":
            self.paused = bool(words["on"])
        elif what == "speed" and words["to"] in SPEEDS:
            self.speed = float(words["to"])
        elif what == "step" and self.paused:
            self._step()
        elif what == "reset":
            seed = words.get("seed")
            self._begin(None if seed is None else int(seed) % 2**32)
        elif what == "push" and self.shown is not None:
            force = np.array([float(part) for part in words["force"]])
            if force.shape == (3,) and np.isfinite(force).all():
                size = float(np.linalg.norm(force))
                self._push = force * min(1.0, STRONGEST / max(size, 1e-9))
                self._push_until = self.steps + math.ceil(PUSH_SECONDS / self.env.control_timestep)

    def _begin(self, seed: int | None) -> None:
        """A new episode, by a reset's seed or, with none, as the demonstration begins, or by seed 0."""
        written = self.path.stat().st_mtime_ns if self.path.exists() else self._written
        if written != self._written:  # the run goes on, and has saved
            self.policy, self._written = load_policy(self.path), written
        if seed is None and self.beside is None:
            seed = 0
        self.seed = seed
        self.obs = self.env.reset(seed) if seed is not None else self.beside.begin(self.env)  # pyright: ignore
        self.states, self.steps, self.total = [self.obs], 0, 0.0
        self.likeness, self._likeness_at = math.nan, 0.0
        self._push, self._push_until, self.action = np.zeros(3), 0, np.zeros(self.env.action_dim)
        self.trouble, self._last_shown = "", 0

    def _step(self) -> None:
        """One control step; an episode that has ended, or that a push broke, is followed by the next."""
        repeat = self.policy.action_repeat
        if self.steps % repeat == 0:
            self.action = self.policy(self.obs)
        if self.shown is not None:
            model, data = self.shown.model, self.shown.data
            root = int(model.jnt_bodyid[0]) if model.njnt else 0
            weight = float(model.body_subtreemass[root]) * 9.81
            data.xfrc_applied[root, :3] = self._push * weight if self.steps < self._push_until else 0.0
        try:
            self.obs, reward, terminated, truncated = self.env.step(self.action)
        except SfmError as error:
            self._begin(self.seed)
            self.trouble = str(error)
            return
        self.steps, self.total = self.steps + 1, self.total + reward
        if self.steps % repeat == 0:
            self.states.append(self.obs)
        if terminated or truncated:
            self._begin(None if self.seed is None else (self.seed + 1) % 2**32)

    def _publish(self) -> None:
        from PIL import Image

        parts = [np.asarray(self.env.render(*self.size))]
        if self.beside is not None:
            parts.append(self.beside.frame(self.steps, *self.size))
        file = io.BytesIO()
        Image.fromarray(np.concatenate(parts, axis=1)).save(file, "JPEG", quality=80)
        number = self._newest.number + 1 if self._newest else 1
        with self._changed:
            self._newest = Seen(number, file.getvalue(), self._state())
            self._last_shown = self.steps
            self._changed.notify_all()

    def _state(self) -> dict[str, Any]:
        now = time.monotonic()
        if self._alike is not None and len(self.states) > 20 and now - self._likeness_at > LIKENESS_EVERY:
            self.likeness, self._likeness_at = self._alike([np.array(self.states)]), now
        meta = self.policy.meta
        return {
            "task": self.env.name,
            "who": f"{meta.get('preset')}, seed {meta.get('seed')}, {meta.get('steps', 0):,} steps",
            "beside": self.beside is not None,
            "pushes": self.shown is not None,
            "push": self._push if self._last_shown < self._push_until else None,  # also one between pictures
            "trouble": self.trouble,
            "seed": self.seed,
            "time": self.steps * self.env.control_timestep,
            "limit": self.env.max_steps * self.env.control_timestep,
            "return": self.total if rewarded(self.env) else None,
            "likeness": self.likeness if self._alike is not None else None,
            "paused": self.paused,
            "speed": self.speed,
            "fps": self.fps,
        }
