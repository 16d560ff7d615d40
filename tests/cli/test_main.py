"""The command as a whole: help, errors, exit statuses."""

import subprocess
import sys
import time

from sfm.cli import COMMANDS, HELP
from tests.cli.helpers import command, says, sfm


def test_an_unknown_command_suggests_the_nearest(capsys):
    assert "did you mean train" in says(capsys, "tran")


def test_debug_shows_the_traceback():
    done = sfm("train", "walker_wlak", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_help_is_quick_and_teaches():
    begin = time.perf_counter()
    done = sfm("--help")
    assert time.perf_counter() - begin < 5
    assert "train" in done.stdout
    assert "resume" in done.stdout
    help_train = sfm("train", "--help").stdout
    for word in ("--demos", "--preset", "--learner.lr-actor", "--objective.features.method", "--seeds"):
        assert word in help_train


def test_who_reads_may_stop_early():
    with subprocess.Popen(command("presets"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()  # as `head` does
        assert child.stderr.read() == b""
        assert child.wait(timeout=60) == 141


def test_help_imports_nothing_heavy():
    heavy = "{'jax', 'equinox', 'optax', 'dm_control', 'mujoco', 'matplotlib', 'rich'}"
    helps = [["--help"], *([name, "--help"] for name in COMMANDS)]
    code = f"""
import sys
from sfm.cli import main
for words in {helps}:
    try:
        main(words)
    except SystemExit:
        pass
    print(words, {heavy} & set(sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines() == [f"{words} set()" for words in helps]
    assert done.stdout.count("usage: ") >= len(COMMANDS)


def test_every_command_is_in_the_help():
    assert [line.split()[0] for line in HELP.splitlines() if line.startswith("  ")][:-2] == list(COMMANDS)
