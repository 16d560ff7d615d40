"""Whatever users call an environment is one, and is found again from what is kept of it."""

import json

import gymnasium
import numpy as np
import pytest

from sfm.envs import make
from sfm.envs.worlds import again, world
from sfm.errors import SfmError
from tests.envs import own_worlds

ID = "tests.envs.own_worlds:OwnSlide-v0"


def wall(env):
    return env._env.unwrapped.wall


def kept(found):
    """As from a file."""
    return json.loads(json.dumps(found.record))


WAYS = {
    "by module and id": lambda: world(ID, {"wall": 2.0}),
    "by id": lambda: world("OwnSlide-v0", {"wall": 2.0}),
    "an instance": lambda: world(gymnasium.make("OwnSlide-v0", wall=2.0)),
    "by module and class": lambda: world(
        "tests.envs.own_worlds:Slide", {"wall": 2.0, "max_episode_steps": 10}
    ),
    "a class": lambda: world(own_worlds.Slide, {"wall": 2.0, "max_episode_steps": 10}),
    "a factory": lambda: world(own_worlds.limited, {"wall": 2.0}),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_say_it_makes_as_many_as_are_asked_for(way):
    found = WAYS[way]()
    first, second = found.make(), found.make()
    assert first._env is not second._env
    assert (wall(first), first.max_steps, first.obs_dim, first.action_dim) == (2.0, 10, 3, 2)
    assert first.obs_names == ("far", "place[0][0]", "place[0][1]")


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("a factory", "by module and id")])
def test_another_process_finds_it_again(way, monkeypatch):
    """One that has not heard of the id that this process registered."""
    found = WAYS[way]()
    assert gymnasium.registry["OwnSlide-v0"].kwargs == {}  # what was asked for stays with the one who asked
    monkeypatch.delitem(gymnasium.registry, "OwnSlide-v0")
    env = again(found.name, {"wall": 2.0, "max_episode_steps": 10}, kept(found)).make()
    assert (wall(env), env.max_steps) == (2.0, 10)


def test_wrappers_are_copied_with_their_arguments():
    found = world(own_worlds.Half(gymnasium.make("OwnSlide-v0"), share=0.25))
    for env in (found.make(), again(found.name, {}, kept(found)).make()):
        assert env._env.share == 0.25


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda: own_worlds.Slide(),
            "copies of this Slide are needed, and it has no spec .* give a function",
        ),
        (
            lambda: own_worlds.Unrecorded(gymnasium.make("OwnSlide-v0")),
            "its wrapper Unrecorded cannot be copied: let it inherit",
        ),
        (lambda: make("probe_point"), "several are needed: give the environment's name, or a function"),
        (lambda: gymnasium.make_vec("Pendulum-v1", 2), "give one environment, not a vector of them"),
        (lambda: 3, "not a int"),
    ],
)
def test_what_cannot_be_copied_says_what_to_give_instead(given, message):
    with pytest.raises(SfmError, match=message):
        world(given())


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("nowhere_at_all:X-v0", {}, "there is no module 'nowhere_at_all' in .* go to the folder"),
        ("tests.envs.own_worlds:OwnSlide-v1", {}, "did you mean OwnSlide-v0"),
        (
            "tests.envs.own_worlds:limited",
            {},
            "of the module .*: did you mean Slide",
        ),
        ("tests.envs.own_worlds:Hopper-v5x", {}, "'Hopper-v5x': known: OwnSlide-v0, Slide."),
        ("tests.cli:X-v0", {}, "'X-v0': known: none"),
        (":X-v0", {}, "'' is no module: write module:Id-v0"),
        ("tests..envs:X-v0", {}, "'tests..envs' is no module"),
        ("tests.envs.own_worlds:Slide", {}, r"no time limit: .*max_episode_steps"),
        (ID, {"walls": 1}, "cannot be made: TypeError: .*unexpected keyword argument 'walls'"),
        ("walker_walk", {"wall": 1}, "'walker_walk' takes no env-kwargs"),
        ("probe_point", {"wall": 1}, "'probe_point' takes no env-kwargs"),
    ],
)
def test_what_is_not_there_says_so(name, kwargs, message):
    with pytest.raises(SfmError, match=message):
        world(name, kwargs).make()


def test_a_function_that_fails_is_named():
    def broken():
        raise ZeroDivisionError("by\nnought")

    with pytest.raises(SfmError, match=r"the function broken, .* failed: ZeroDivisionError: by nought"):
        world(broken).make()


def test_a_module_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sfm_broken.py").write_text("1 / 0")
    (tmp_path / "sfm_needy.py").write_text("import no_such_package")
    with pytest.raises(SfmError, match="importing the module 'sfm_broken' failed: ZeroDivisionError"):
        make("sfm_broken:X-v0")
    with pytest.raises(SfmError, match="the module 'sfm_needy' needs 'no_such_package'"):
        make("sfm_needy:X-v0")


def test_a_record_calls_nothing_but_environments_and_wrappers():
    """Files come from anywhere; an entry point may name any function of any module."""
    record = kept(world(gymnasium.make("OwnSlide-v0")))
    for spec in (
        record["spec"] | {"entry_point": "os:abort"},
        record["spec"] | {"additional_wrappers": [{"name": "x", "entry_point": "os:abort", "kwargs": {}}]},
        {"id": 3},
        7,
    ):
        with pytest.raises(SfmError, match="cannot be made again"):
            again("OwnSlide-v0", {}, record | {"spec": spec}).make()


def test_a_record_that_is_none_is_refused():
    with pytest.raises(SfmError, match="is not a JSON object"):
        again("OwnSlide-v0", {}, [1])  # pyright: ignore


def test_what_only_this_program_knows_is_not_guessed():
    def local():
        return own_worlds.limited()

    class Local(own_worlds.Slide):
        pass

    for found in (world(local), world(Local, {"max_episode_steps": 5})):
        assert np.isfinite(found.make().reset(0)).all()
        with pytest.raises(SfmError, match=r"was made in Python, .* sfm.resume\(folder, env=...\)"):
            again(found.name, {}, kept(found)).make()
