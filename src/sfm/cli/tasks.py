"""`sfm tasks`: the bundled tasks, or what one environment expects."""

from typing import Any

from tyro.conf import Positional

from sfm.cli.environment import MADE, Made
from sfm.cli.parse import command

EPISODES, STEPS = 3, 200  # of random actions, to see how far numbers go


@command
def main(task: Positional[str] = "", made: Made = MADE) -> None:
    """List the bundled tasks, or show what one gives and takes: each number with its name, unit and range.

    dm_control's other tasks and Gymnasium ids work by name, too.

    Args:
        task: A task, a Gymnasium id, module:Id-v0, or a robot's .xml.
    """
    from sfm.envs import TASKS

    if not task:
        print("\n".join(TASKS))
        return
    env = made.env(task)
    show(env)
    env.close()


def show(env: Any) -> None:
    """An environment's numbers, as two tables, and its times."""
    from rich.console import Console
    from rich.table import Column, Table

    from sfm.cli.screen import whole
    from sfm.envs.signals import action_signals, obs_signals
    from sfm.evaluation.evaluate import seen

    low, high = seen(env, EPISODES, STEPS)
    heads = [Column(name, justify="right") for name in ("low", "high", "least", "most")]
    narrow: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, 1, 0, 0)}
    states = Table(Column("", justify="right"), "observation", "unit", *heads, **narrow)
    for i, (signal, *reach) in enumerate(zip(obs_signals(env), low, high, strict=True)):
        numbers = [f"{x:.4g}" for x in (signal.low, signal.high, *reach)]
        states.add_row(str(i), signal.name, signal.unit, *numbers)
    actions = Table(Column("", justify="right"), "action", *heads[:2], **narrow)
    for i, signal in enumerate(action_signals(env)):
        actions.add_row(str(i), signal.name, f"{signal.low:.4g}", f"{signal.high:.4g}")
    console = Console(markup=False, highlight=False, soft_wrap=True)
    ends = "may end early" if env.terminates else "end at the time limit alone"
    assumed = ", assumed: its metadata has no render_fps" if getattr(env, "rate_assumed", False) else ""
    console.print(f"{env.name}: {env.obs_dim} observations, {env.action_dim} actions")
    for table in (states, actions):
        console.print()
        whole(console, table)
    console.print()
    console.print(
        f"time limit {env.max_steps:,} steps ({env.max_steps * env.control_timestep:.4g} s); episodes {ends}"
    )
    console.print(f"control rate {1 / env.control_timestep:.4g} per second{assumed}")
    console.print(f"least and most: in {EPISODES} episodes of random actions, of at most {STEPS} steps")
