"""`sfm presets`: the named configurations."""

from sfm.cli.parse import command
from sfm.presets import DEFAULT, PRESETS

SOURCES = {"nothing": "the reward", "states": "states", "actions": "states and actions"}


@command
def main() -> None:
    """List the named configurations; `sfm train --preset NAME --help` shows all of one."""
    for name, config in PRESETS.items():
        s = config.schedule
        print(
            f"{name:20} gamma {config.gamma}, batch {s.batch}, {s.steps:,} steps, "
            f"{s.updates_per_step:g} updates per step, from {SOURCES[config.needs]}"
            f"{'  (default)' if name == DEFAULT else ''}"
        )
