"""Every command and every Python block of the pages runs, in a place that has the files they name.

What would take long is made small at one point each: a run at its configuration, an evaluation at its number
of episodes, an episode of our tasks at its time limit, a sweep at its plan. What cannot run here is listed
with the reason.
"""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import sfm
from sfm import api
from sfm.cli import COMMANDS, ending, main
from sfm.config import flat, overridden, to_dict
from tests.pages.blocks import PAGES, ROOT, blocks, commands, inline
from tests.pages.places import furnish, page, plan, shorten

NOT_RUN = {  # the beginning of a command or of a Python block: why
    "git clone": "the tests run in what it fetches",
    "cd": "a shell's own",
    ".venv/bin/pre-commit install": "it writes into .git; the hooks are the checks of `make test`",
    "npm install": "it fetches from the network",
    "NODE_PATH=": "tests of pages, in a browser where there is one",
    "pip install": "it fetches from the network",
    "ray start": "other machines",
    "ssh": "another machine",
    "sfm watch": "it serves until Ctrl-C; tests/watch does all that a reader would",
    "sfm sweep plan.toml --engine ray": "other machines; tests/sweep/test_engines.py runs a cluster on one",
    "python examples/": "tests/test_examples.py runs them all",
    "python -m benchmarks.learning": "runs of hours; tests/benchmarks/test_learning.py has short ones",
    "python benchmarks/learning.py": "the record of a run at an earlier commit",
    ".venv/bin/python -m benchmarks.soak": "minutes to hours; tests/benchmarks/test_soak.py has its parts",
    "# agents/agent.py": "an outline in Python's words",
    "# config/objectives.py": "parts of three files",
}
SEEDS = 2  # at most: as good as five to show that several are trained at once
FEW = {  # an episode or some at random, and one more with updates
    "schedule.steps": 1010,
    "schedule.envs": 1,
    "schedule.random_steps": 900,
    "schedule.updates_per_step": 0.5,
    "schedule.eval_episodes": 1,
    "schedule.batch": 8,
    "schedule.chunk": 50,
    "learner.width": 8,
    "learner.target_interval": 50,
    "objective.features.dim": 8,
    "objective.features.width": 8,
    "objective.features.head_width": 8,
}
NAMES = {  # what stands for something else
    "PATH": "my_demo.npz",
    "SOURCE": "my_demo.npz",
    "TASK": "walker_walk",
    "CLIP": "human_walk",
    "MODEL": "walker_walk",
}
ADDED = {  # to the beginning of a command
    ("sfm", "train"): ["--no-video"],
    ("sfm", "resume"): ["--no-video"],
    ("sfm", "fork"): ["--no-video"],
    ("sfm", "eval"): ["--no-video"],
    ("sfm", "sweep"): ["--dry-run"],
    ("sfm", "demos", "collect"): ["--count", "1", "--candidates", "1"],
    ("make",): ["-n", "-C", str(ROOT)],
}
SIGNATURE = re.compile(r"(@\w+\n)?(def|class) ")  # on docs/api.md, which is made from the code
reached: set[str] = set()  # of NOT_RUN


@pytest.fixture(scope="module")
def short():
    """Trainings and evaluations of few steps, whoever asks for them."""
    with pytest.MonkeyPatch.context() as patch:
        create, fork = api.create, api.fork_run

        def create_few(folder, config, *rest):
            known = dict(flat(to_dict(config)))
            few = {name: value for name, value in FEW.items() if name in known}
            few["seeds"] = min(config.seeds, SEEDS)
            return create(folder, overridden(config, few), *rest)

        def fork_few(old, folder, config, note):
            done = max(old.checkpoints.steps())
            assert config.schedule.steps > done
            return fork(old, folder, replace(config, schedule=replace(config.schedule, steps=done + 1)), note)

        shorten(patch)
        patch.setattr(api, "create", create_few)
        patch.setattr(api, "fork_run", fork_few)
        patch.setattr(ending, "EPISODES", 1)
        yield


@pytest.fixture(scope="module")
def furnished(tmp_path_factory, short) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    furnish(folder)
    sfm.train("walker_walk", folder / "my_demo.npz", folder=folder / "RUN", progress=False)
    (folder / "runs").mkdir()
    for name in ("A", "B", "runs/a", "runs/b"):
        shutil.copytree(folder / "RUN", folder / name)
    return folder


@pytest.fixture
def place(furnished, tmp_path, monkeypatch) -> Path:
    """A copy of all that pages name, gone to; a module there is found, and forgotten afterwards."""
    folder = tmp_path / "place"
    shutil.copytree(furnished, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    yield folder
    sys.modules.pop("mymodule", None)
    gymnasium.registry.pop("MyEnv-v0", None)


def why_not(text: str) -> str | None:
    found = [key for key in NOT_RUN if text.startswith(key)]
    reached.update(found)
    return found[0] if found else None


def run_command(words: list[str], fresh: str) -> None:
    """`fresh`: a file that does not exist."""
    words = [NAMES.get(word, fresh if word == "TARGET" else word) for word in words]
    for beginning, more in ADDED.items():
        words += more if tuple(words[: len(beginning)]) == beginning and "--help" not in words else []
    if "--episodes" in words:
        words[words.index("--episodes") + 1] = "1"
    if words[0] == "make":
        assert subprocess.run(words, capture_output=True).returncode == 0, words
    elif words[0] == "sfm":
        with contextlib.suppress(SystemExit) if "--help" in words else contextlib.nullcontext():
            assert not main(words[1:]), words
    else:
        pytest.fail(f"nothing runs {words}: run it, or say in NOT_RUN why not")


def run_python(text: str, given: dict) -> None:
    if (file := re.match(r"# (\w+\.py)\n", text)) and Path(file[1]).exists():
        return  # the file that `furnish` made of it
    exec(compile(text, "a block of the page", "exec"), given)


@pytest.mark.parametrize("name", PAGES)
def test_all_that_a_page_shows_runs(name, place):
    text = page(name)
    states = np.load("my_demo.npz")["obs"]
    given = {"sfm": sfm, "np": np, "gymnasium": gymnasium}
    given |= {"observation": states[0], "angles": states[:, :4]}
    if shown := plan(text):
        Path("plan.toml").write_text(shown)
    for number, block in enumerate(blocks(text)):
        if block.language == "sh":
            for i, words in enumerate(commands(block.text)):
                if not why_not(" ".join(words)):
                    run_command(words, f"{number}-{i}.npz")
        elif block.language == "python":
            signature = name == "docs/api.md" and SIGNATURE.match(block.text)
            if not signature and not why_not(block.text):
                run_python(block.text, given)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            json.loads("{" + block.text + "}")
        else:
            assert not block.language, f"nothing runs {block.language}"


def test_what_is_not_run_is_on_a_page():
    for name in PAGES:
        for block in blocks(page(name)):
            texts = map(" ".join, commands(block.text)) if block.language == "sh" else [block.text]
            list(map(why_not, texts))
    assert reached == set(NOT_RUN)


def test_commands_in_sentences_exist():
    named = {words.split()[1] for name in PAGES for words in inline(page(name))}
    assert named <= {*COMMANDS, "COMMAND"}


def test_options_in_sentences_exist(capsys):
    """Those of a command that a sentence names, by its help."""
    found: dict[tuple[str, ...], set[str]] = {}
    for words in (text.split() for name in PAGES for text in inline(page(name))):
        command = tuple(words[1:3] if words[1] == "demos" else words[1:2])
        found.setdefault(command, set()).update(word.split("=")[0] for word in words if word.startswith("--"))
    known = {}
    for command in [command for command, options in found.items() if options]:
        with contextlib.suppress(SystemExit):
            main([*command, "--help"])
        known[command] = capsys.readouterr().out
    assert {"--preset", "--steps", "--to"} <= set().union(*found.values())
    assert [o for command, options in found.items() for o in options if o not in known[command]] == []
