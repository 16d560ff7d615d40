"""What a plan means, and what it may not say."""

import tomllib

import pytest

from sfm.config import overridden
from sfm.errors import SfmError
from sfm.presets import DEFAULT, preset
from sfm.sweep.plan import read, wishes


def asked(text: str):
    return wishes(tomllib.loads(text))


def test_a_plan_is_a_product():
    found = asked("""
        tasks = ["probe_point", "probe_chain"]
        presets = ["fast", "bc"]
        seeds = [4, "7-8"]
        steps = 500
        changes = ["", "gamma=0.5 n_step=1"]
        demo = [0, 2]
    """)
    assert len(found) == len(set(map(repr, found))) == 2 * 2 * 3 * 2 * 2
    assert {wish.seed for wish in found} == {4, 7, 8}
    one = next(w for w in found if w[:3] == ("probe_chain", "fast", "gamma=0.5 n_step=1") and w[5:] == (2, 8))
    changes = {"task": "probe_chain", "seed": 8, "steps": 500, "gamma": 0.5, "n_step": 1}
    assert one.config == overridden(preset("fast"), changes)


def test_changes_can_have_names_and_quotes():
    found = asked("""
        tasks = "walker_walk"
        [changes]
        wide = "learner.width=512"
        warm = 'warm_start="a policy"'
    """)
    assert [(wish.label, wish.config.learner.width, wish.config.warm_start) for wish in found] == [
        ("wide", 512, "none"),
        ("warm", 256, "a policy"),
    ]


def test_tables_of_jobs_say_only_what_is_different():
    found = asked("""
        seeds = "0-1"
        steps = 7
        [[jobs]]
        tasks = ["walker_walk"]
        [[jobs]]
        tasks = ["quadruped_run"]
        presets = ["sfm-td7-cpu"]
        seeds = [5]
    """)
    told = [(wish.task, wish.preset, wish.seed, wish.config.schedule.steps) for wish in found]
    assert told == [
        ("walker_walk", DEFAULT, 0, 7),
        ("walker_walk", DEFAULT, 1, 7),
        ("quadruped_run", "sfm-td7-cpu", 5, 7),
    ]


def test_each_seed_can_have_a_demonstration_of_its_own():
    pattern = asked("tasks = ['a', 'b']\nseeds = [1, 3]\ndemos = 'demos/{task}/{seed}.npz'\ndemo = '{seed}'")
    assert [(w.demos, w.demo) for w in pattern] == [
        ("demos/a/1.npz", 1),
        ("demos/a/3.npz", 3),
        ("demos/b/1.npz", 1),
        ("demos/b/3.npz", 3),
    ]
    listed = asked("tasks = 'a'\nseeds = [1, 3]\ndemos = ['x', 'y']\ndemo = 4\ndemos_per_seed = true")
    assert [(w.seed, w.demos, w.demo) for w in listed] == [(1, "x", 4), (3, "y", 4)]
    product = asked("tasks = 'a'\nseeds = [1, 3]\ndemos = ['x', 'y']")
    assert [(w.seed, w.demos) for w in product] == [(1, "x"), (3, "x"), (1, "y"), (3, "y")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the plan has no jobs"),
        ("seeds = [1]", "the plan has no jobs"),
        ("tasks = 'a'\nseeds = []", "the plan has no jobs"),
        ("taks = ['walker_walk']", "unknown field of a plan 'taks': did you mean tasks"),
        ("tasks = 'a'\npresets = ['sfm-td77']", "unknown preset 'sfm-td77': did you mean sfm-td7"),
        ("tasks = 'a'\nchanges = 'n_stp=1'", "unknown option 'n_stp': did you mean n_step"),
        ("tasks = 'a'\nchanges = 'gamma=2'", "gamma must lie in"),
        ("tasks = 'a'\nchanges = 'gamma'", "'gamma' is no setting: write name=value"),
        ("tasks = 'a'\nchanges = 'seed=1'", "changes cannot have seed"),
        ("tasks = 'a'\nchanges = [3]", "changes must be words"),
        ("tasks = 'a'\nchanges = \"warm_start='bc\"", "No closing quotation"),
        ("tasks = [1]", "tasks must be words"),
        ("tasks = 'a'\nseeds = '4-'", "seeds must be numbers or ranges like '0-4', not '4-'"),
        ("tasks = 'a'\nseeds = [-1]", "seeds must be numbers"),
        ("tasks = 'a'\nseeds = true", "seeds must be numbers"),
        ("tasks = 'a'\ndemos = '{taks}'", "unknown name in braces 'taks': did you mean task"),
        ("tasks = 'a'\ndemo = 'one'", "demo must be a number"),
        ("tasks = 'a'\nseeds = '0-4'\ndemo = [1, 2]\ndemos_per_seed = true", "there are 2 demo for 5 seeds"),
        ("jobs = 3", r"write \[\[jobs\]\]"),
        ("tasks = ['a', 'a']", "a job is twice in the plan: a, general, seed 0 and a, general, seed 0"),
        ("tasks = 'a'\nchanges = ['', 'n_step=3']", "a, general, seed 0 and a, general with n_step=3"),
        ("tasks = 'a'\nseeds = ['0-3', 2]", "a job is twice in the plan"),
        ("tasks = 'a'\n[[jobs]]\npresets = 'bc'\n[[jobs]]\npresets = 'bc'", "twice"),
    ],
)
def test_what_a_plan_may_not_say(text, message):
    with pytest.raises(SfmError, match=message):
        asked(text)


def test_a_file_that_is_no_plan(tmp_path):
    with pytest.raises(SfmError, match="not found"):
        read(tmp_path / "no.toml")
    with pytest.raises(SfmError, match="could not read"):
        read(tmp_path)
    (tmp_path / "bad.toml").write_text("tasks = [")
    with pytest.raises(SfmError, match="is not valid TOML"):
        read(tmp_path / "bad.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SfmError, match="is not valid TOML"):
        read(tmp_path / "bad.toml")
