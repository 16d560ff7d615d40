"""`sfm eval` without a run."""

from sfm.cli import main
from tests.cli.helpers import says


def test_random_actions_are_evaluated_on_a_task(capsys):
    """On the probe, 20 steps of a reward between -2.25 and 0; the same seed gives the same return."""
    for _ in range(2):
        assert main(["eval", "probe_point", "--random", "--episodes", "50"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert first.startswith("random actions: return -")
    assert first.endswith("over 50 episodes")
    assert -45 < float(first.split()[3]) < -4  # the best policy's is near -2
    assert "probe_point" in says(capsys, "eval", "probe_pont", "--random")
