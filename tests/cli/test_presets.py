"""What is there to choose from."""

from sfm.cli import main
from tests.cli.helpers import says


def test_a_preset_says_what_it_learns_from(capsys, point_file):
    assert main(["presets"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert max(map(len, lines.values())) <= 80
    assert lines["gamma"].endswith("learns from")
    assert lines["bc"].endswith("  states and actions")
    assert lines["bco"].endswith("  states")
    assert lines["expert-td3"].endswith("  reward")
    assert lines["general"].startswith("general (default) ")
    message = says(capsys, "train", "probe_point", "--demos", point_file, "--warm-start", "bc")
    assert message.startswith("error: --warm-start bc needs the expert's actions")


def test_presets_and_tasks_are_listed(capsys):
    assert main(["presets"]) == 0
    assert main(["tasks"]) == 0
    out = capsys.readouterr().out
    assert "sfm-td7" in out
    assert "quadruped_jump" in out
