"""How fast environments step."""

from collections.abc import Iterator

import mujoco
import numpy as np

from benchmarks.measure import Row, Settings, timed
from sfm.envs import make
from sfm.training.rollout import rollout

__all__ = ["environments"]

TASKS = ("walker_walk", "cheetah_run", "quadruped_run")
COUNT, STEPS = 8, 1000


def environments(settings: Settings) -> Iterator[Row]:
    """Steps/s of 8 environments in lockstep over a plain dm_control loop, and over bare mj_step."""
    for task in TASKS[:1] if settings.quick else TASKS:
        envs = [make(task) for _ in range(COUNT)]
        rng = np.random.default_rng(0)
        actions = rng.uniform(-1, 1, (STEPS, COUNT, envs[0].action_dim)).astype(np.float32)
        from dm_control import suite  # after `make`, which keeps it from looking for a screen

        domain, name = task.split("_")
        env = suite.load(domain, name)
        model, data = env.physics.model.ptr, env.physics.data.ptr
        substeps = round(env.control_timestep() / env.physics.timestep())

        def lockstep(envs=envs, actions=actions) -> None:
            rollout(envs, range(COUNT), lambda obs, t, group: actions[t, group])

        def plain(env=env, actions=actions) -> None:
            env.reset()
            for t in range(STEPS):
                env.step(actions[t, 0])

        def bare(model=model, data=data, actions=actions, substeps=substeps) -> None:
            mujoco.mj_resetData(model, data)  # pyright: ignore
            for t in range(STEPS):
                data.ctrl[:] = actions[t, 0]
                mujoco.mj_step(model, data, substeps)  # pyright: ignore

        times = timed(lockstep, plain, bare, seconds=settings.seconds)
        ours, theirs, physics = (n * STEPS / time for n, time in zip((COUNT, 1, 1), times, strict=True))
        yield (
            task,
            {
                "lockstep_per_s": ours,
                "plain_loop_per_s": theirs,
                "mj_step_per_s": physics,
                "lockstep_over_plain": ours / theirs,
                "lockstep_over_mj_step": ours / physics,
            },
        )
