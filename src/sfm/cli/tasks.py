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

    from sfm.envs.signals import action_signals, obs_signals
    from sfm.evaluation.evaluate import seen

    low, high = seen(env, EPISODES, STEPS)
    heads = [Column(name, justify="right") for name in ("low", "high", "least", "most")]
    longest = max(len(signal.name) for signal in obs_signals(env))
    states = Table(Column("", justify="right"), Column("observation", min_width=longest), "unit", *heads)
    for i, (signal, *reach) in enumerate(zip(obs_signals(env), low, high, strict=True)):
        numbers = [f"{x:.4g}" for x in (signal.low, signal.high, *reach)]
        states.add_row(str(i), signal.name, signal.unit, *numbers)
    actions = Table(Column("", justify="right"), "action", "low", "high")
    for i, signal in enumerate(action_signals(env)):
        actions.add_row(str(i), signal.name, f"{signal.low:.4g}", f"{signal.high:.4g}")
    console = Console(markup=False, highlight=False, soft_wrap=True)
    ends = "may end early" if env.terminates else "end at the time limit alone"
    console.print(f"{env.name}: {env.obs_dim} observations, {env.action_dim} actions")
    console.print(states)
    console.print(actions)
    console.print(
        f"control rate {1 / env.control_timestep:.4g} per second; time limit {env.max_steps:,} steps "
        f"({env.max_steps * env.control_timestep:.4g} s); episodes {ends}"
    )
    console.print(f"least and most: in {EPISODES} episodes of random actions, of at most {STEPS} steps")
