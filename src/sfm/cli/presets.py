"""`sfm presets`: the named configurations."""

from sfm.cli.parse import command
from sfm.presets import DEFAULT, PRESETS

SOURCES = {"nothing": "reward", "states": "states", "actions": "states and actions"}


@command
def main() -> None:
    """List the named configurations; `sfm train --preset NAME --help` shows all of one."""
    row = "{:20} {:>6} {:>6} {:>10} {:>13}  {}".format
    print(row("", "gamma", "batch", "steps", "updates/step", "learns from"))
    for name, config in PRESETS.items():
        s = config.schedule
        shown = f"{name} (default)" if name == DEFAULT else name
        of = SOURCES[config.needs]
        print(row(shown, config.gamma, s.batch, f"{s.steps:,}", f"{s.updates_per_step:g}", of))
