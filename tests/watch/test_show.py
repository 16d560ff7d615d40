"""The show does what it is asked for, and nothing else."""

import io
import threading
import time

import numpy as np
import pytest
from PIL import Image

import sfm
from sfm.demos import bundled
from sfm.reporter import Silent
from sfm.run import create
from sfm.watch.show import PUSH_SECONDS, STRONGEST, Show
from tests.conftest import tiny, walk_to_half


@pytest.fixture(scope="module")
def walker():
    show = Show("walker_walk", height=60)
    yield show
    show.close()


def told(show, *words):
    for each in words:
        show.ask(each)
    return show.obey(0.0)


def steps(show, count):
    told(show, {"do": "pause", "on": True}, *[{"do": "step"}] * count)
    return show.obs


def test_a_policy_begins_as_its_demonstration_and_does_likewise(walker):
    demos = bundled.bundled("walker_walk")
    told(walker, {"do": "reset", "seed": None})
    np.testing.assert_allclose(walker.obs, demos.obs[0, 0], atol=1e-3)
    np.testing.assert_allclose(steps(walker, 30), demos.obs[0, 30], atol=0.02)
    assert walker.seed is None
    assert 10 < walker.total < 30
    walker._publish()
    state, picture = walker.newest(0).state, Image.open(io.BytesIO(walker.newest(0).picture))
    assert picture.size == (160, 60)  # two of 80, side by side
    left, right = np.array(picture, float)[:, :80], np.array(picture, float)[:, 80:]
    assert np.abs(left - right).mean() < 4
    assert (state["beside"], state["pushes"], state["time"]) == (True, True, pytest.approx(0.75))
    assert state["return"] == walker.total
    assert -1 < state["likeness"] <= 1.2


def test_a_seed_decides_an_episode(walker):
    seen = []
    for seed in (7, 8, 7):
        told(walker, {"do": "reset", "seed": seed})
        np.testing.assert_array_equal(walker.obs, sfm.make_env("walker_walk").reset(seed))
        seen.append(steps(walker, 5))
    np.testing.assert_array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[1])


def test_a_push_moves_the_body_its_way_and_ends(walker):
    ends = []
    for force in ([0, 0, 0], [5, 0, 0], [-5, 0, 0], [0, 0, 5]):
        told(walker, {"do": "reset", "seed": 3}, {"do": "push", "force": force})
        steps(walker, 4)
        ends.append(walker.shown.data.qpos[:2].copy())  # height, x
        steps(walker, round(PUSH_SECONDS / walker.env.control_timestep))
        assert not walker.shown.data.xfrc_applied.any()
        walker._publish()
        assert walker.newest(0).state["push"].tolist() == force  # none of it was seen
        assert walker._state()["push"] is None
    still, right, left, up = ends
    assert left[1] < still[1] - 0.01 < still[1] + 0.01 < right[1]
    assert up[0] > still[0] + 0.01
    told(walker, {"do": "push", "force": [0, 3e9, 4e9]})
    np.testing.assert_allclose(walker._push, [0, 0.6 * STRONGEST, 0.8 * STRONGEST])


def test_a_push_that_breaks_the_simulation_begins_the_episode_again(walker):
    told(walker, {"do": "reset", "seed": 4})
    steps(walker, 3)
    walker.shown.data.qvel[:] = 1e12
    assert told(walker, {"do": "step"})
    assert (walker.seed, walker.steps) == (4, 0)
    np.testing.assert_array_equal(walker.obs, sfm.make_env("walker_walk").reset(4))
    assert "the simulation of 'walker_walk' broke down" in walker._state()["trouble"]
    steps(walker, 1)
    told(walker, {"do": "reset", "seed": 4})
    assert walker._state()["trouble"] == ""


def test_slow_pictures_do_not_slow_the_simulation(walker, monkeypatch):
    monkeypatch.setattr(walker, "_publish", lambda: time.sleep(0.3))
    told(walker, {"do": "reset", "seed": 1}, {"do": "pause", "on": False}, {"do": "speed", "to": 1.0})
    stop = threading.Event()
    threading.Timer(1.3, stop.set).start()
    with walker.watched():
        walker.go_on(stop)
    assert walker.steps * walker.env.control_timestep > 0.6


def test_nonsense_changes_nothing(walker):
    told(walker, {"do": "reset", "seed": 1}, {"do": "speed", "to": 2.0}, {"do": "pause", "on": False})
    before = walker.steps, walker.seed, walker.speed, walker.paused, walker._push.tolist()
    odd = [
        {}, {"do": "dance"}, {"do": "speed", "to": 3}, {"do": "speed"}, {"do": "reset", "seed": "x"},
        {"do": "reset", "seed": float("inf")}, {"do": "push", "force": [1, 2]}, {"do": "step"},
        {"do": "push", "force": [float("nan"), 0, 0]}, {"do": "push", "force": "far"}, {"do": ["reset"]},
    ]  # fmt: skip
    assert told(walker, *odd)
    assert before == (walker.steps, walker.seed, walker.speed, walker.paused, walker._push.tolist())


def test_it_rests_unless_watched_and_paused_it_stands_still(walker):
    def goes_on(seconds=0.4):
        stop = threading.Event()
        threading.Timer(seconds, stop.set).start()
        begin = walker.steps
        walker.go_on(stop)
        return walker.steps - begin

    told(walker, {"do": "reset", "seed": 1}, {"do": "pause", "on": False}, {"do": "speed", "to": 1.0})
    assert goes_on() == 0
    with walker.watched():
        assert goes_on(1.0) > 1
        told(walker, {"do": "pause", "on": True})
        assert goes_on() == 0
    assert walker.watchers == 0


def test_a_run_of_another_world_is_watched_and_its_newer_policy_taken(tmp_path):
    run = create(tmp_path / "run", tiny(steps=80, action_repeat=2), sfm.Demos.from_list([walk_to_half(-1.0)]))
    run.train(Silent())
    show = Show(str(tmp_path / "run"), height=60)
    state = show.newest(0).state
    assert (state["beside"], state["pushes"], state["seed"]) == (False, False, 0)
    steps(show, 1)
    held = show.action
    steps(show, 1)
    assert show.action is held  # for two steps
    steps(show, 1)
    assert show.action is not held
    assert len(show.states) == 2
    limit = show.env.max_steps
    steps(show, limit - 3)
    assert (show.seed, show.steps) == (1, 0)  # the next episode
    path, old = show.path, show.policy
    path.write_bytes(path.read_bytes())
    told(show, {"do": "reset", "seed": 5})
    assert show.policy is not old
    show.close()
