"""Lists of arrays become demonstrations, and bad ones are refused in one clear line."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfm.demos import Demos, load
from sfm.demos.formats import npz_files
from sfm.demos.stack import Stack
from sfm.demos.types import check
from sfm.errors import SfmError
from tests.demos.samples import BAD_STATE, actions, assert_equal, states


@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), with_actions=st.booleans())
@settings(deadline=None, derandomize=True, max_examples=30)
def test_lists_become_padded_arrays_and_back(tmp_path_factory, lengths, with_actions):
    obs = [states(length, start=i) for i, length in enumerate(lengths)]
    action = [actions(length) for length in lengths] if with_actions else None
    demos = Demos.from_list(obs, action)
    assert demos.obs.shape == (len(lengths), max(lengths) + 1, 3)
    assert demos.obs.dtype == np.float32
    assert demos.length.dtype == np.int32
    np.testing.assert_array_equal(demos.length, lengths)
    for i, (found_obs, found_action) in enumerate(demos.episodes()):
        np.testing.assert_array_equal(found_obs, obs[i])
        np.testing.assert_array_equal(
            demos.obs[i, lengths[i] :], np.broadcast_to(obs[i][-1], demos.obs[i, lengths[i] :].shape)
        )
        if action is None:
            assert found_action is None
        else:
            np.testing.assert_array_equal(found_action, action[i])
    path = tmp_path_factory.mktemp("demos") / "x.npz"
    npz_files.save(path, demos, source='{"by": "a test"}', returns=[1.0])
    assert_equal(load(path), demos)
    with np.load(path) as file:
        assert str(file["source"]) == '{"by": "a test"}'


def test_other_number_types_become_float32():
    for dtype in (np.float64, np.float16, np.int64, np.uint8, bool):
        demos = Demos.from_list([np.ones((3, 2), dtype)], [np.ones((2, 1), dtype)])
        assert demos.obs.dtype == np.float32
        assert demos.action is not None
        assert demos.action.dtype == np.float32
    assert Demos.from_list([[[1, 2], [3, 4]]]).obs.tolist() == [[[1, 2], [3, 4]]]


def test_an_action_after_the_last_state_is_dropped():
    assert_equal(Demos.from_list([states(4)], [actions(5)]), Demos.from_list([states(4)], [actions(5)[:4]]))


@pytest.mark.parametrize(
    ("obs", "action", "message"),
    [
        ([], None, "x: there are no demonstrations"),
        ([states(3), states(0)], None, "x: demonstration 1 needs at least 2 states, has 1"),
        ([np.zeros((0, 3))], None, "x: demonstration 0 needs at least 2 states, has 0"),
        ([states(3), BAD_STATE], None, "x: demonstration 1 is NaN in state 2, dimension 1"),
        ([np.array([[0.0], [-np.inf]])], None, "x: demonstration 0 is infinite in state 1, dimension 0"),
        ([states(4)], [BAD_STATE], "x: demonstration 0 is NaN in action 2, dimension 1"),
        (
            [np.array([["a"], ["b"]])],
            None,
            "x: the states of demonstration 0 are not numbers but of type <U1",
        ),
        ([np.array([[None], [1]])], None, "not numbers but of type object"),
        ([np.array([[1.0], [1e39]])], None, "too large for float32: 1e+39 at time 1, dimension 0"),
        (
            [states(3, 3), states(3, 4)],
            None,
            "demonstration 1 has states of 4 dimensions, but the first has 3",
        ),
        ([np.zeros(5)], None, "have shape [5], expected [time, dimension]"),
        ([[[1, 2], [3]]], None, "do not form a matrix"),
        ([states(3)], [], "actions of 0 demonstrations, but states of 1"),
        ([states(3)], [actions(2)], "demonstration 0 has 2 actions for 4 states, expected 3 (or 4"),
        ([states(3)], [actions(5)], "demonstration 0 has 5 actions for 4 states"),
        ([states(3)] * 2, [actions(3, 2), actions(3, 1)], "demonstration 1 has actions of 1 dimensions"),
    ],
)
def test_bad_demonstrations_are_refused(obs, action, message):
    with pytest.raises(SfmError, match=re.escape(message)) as info:
        Demos.from_list(obs, action, name="x")
    assert "\n" not in str(info.value)


def test_check_against_the_environment():
    demos = Demos.from_list([states(3)], [actions(3)])
    check(demos, 3, "x")
    with pytest.raises(SfmError, match="x: states have 3 dimensions, the environment has 24"):
        check(demos, 24, "x")
    for broken, message in (
        (demos._replace(length=np.array([4])), "length 4, expected 1 to 3"),
        (demos._replace(length=np.array([0])), "length 0, expected 1 to 3"),
        (demos._replace(length=np.array([1.5])), "whole numbers"),
        (demos._replace(obs=np.zeros((0, 2, 3))), "no demonstrations"),
        (demos._replace(obs=demos.obs.astype(str)), "not numbers"),
        (demos._replace(action=np.zeros((1, 7, 2))), "do not fit"),
    ):
        with pytest.raises(SfmError, match=message):
            check(broken, None, "x")
    simulated = demos._replace(qpos=states(3, 2)[None], qvel=states(3, 2)[None])
    check(simulated, 3, "x")
    for broken, message in (
        (simulated._replace(qpos=states(2, 2)[None]), r"x: qpos of shape \[1, 3, 2\] does not fit states"),
        (simulated._replace(qvel=np.full((1, 4, 2), np.inf)), "demonstration 0 is infinite in qvel 0"),
    ):
        with pytest.raises(SfmError, match=message):
            check(broken, 3, "x")
    padding = np.full((1, 4, 3), np.nan, np.float32)
    padding[:, :2] = 0
    check(
        Demos(padding, None, np.array([1], np.int32)), 3, "x"
    )  # what lies beyond the length does not matter


def simulated(lengths):
    """Demonstrations with all that there may be; qpos and qvel follow from obs."""
    obs = [states(n, start=i) for i, n in enumerate(lengths)]
    qpos, qvel = [10 * s[:, :2] for s in obs], [-s[:, :1] for s in obs]
    return Demos.from_list(obs, [actions(n) for n in lengths], "x", qpos, qvel)


def test_the_states_of_a_simulator_go_where_observations_go(tmp_path):
    demos = simulated((7, 4))
    npz_files.save(tmp_path / "x.npz", demos)
    assert_equal(load(tmp_path / "x.npz"), demos)
    for part in (demos, demos.thinned(2), demos.only(1), demos.only(1).thinned(3)):
        np.testing.assert_array_equal(part.qpos, 10 * part.obs[..., :2])
        np.testing.assert_array_equal(part.qvel, -part.obs[..., :1])
    assert_equal(
        demos.only(1),
        Demos.from_list([states(4, start=1)], [actions(4)])._replace(
            qpos=10 * states(4, start=1)[None, :, :2], qvel=-states(4, start=1)[None, :, :1]
        ),
    )
    plain = Demos.from_list([states(4)])
    assert plain.only(0).qpos is plain.thinned(2).qvel is None


def test_half_a_simulators_state_is_none_and_one_that_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, obs=states(4), qpos=states(4))
    assert load(path).qpos is None
    np.savez(path, obs=states(4), qpos=states(4), qvel=states(3))
    with pytest.raises(SfmError, match="demonstration 0 has qvel of 4 states, not 5"):
        load(path)
    np.savez(path, obs=states(4), qpos=states(4)[None], qvel=states(4)[None])
    with pytest.raises(SfmError, match=r"'qpos' has shape \[1, 5, 3\], 'obs' has \[5, 3\]"):
        load(path)
    with pytest.raises(SfmError, match="x: qvel of 1 demonstrations, but states of 2"):
        Demos.from_list([states(3)] * 2, None, "x", [states(3)] * 2, [states(3)])


def test_demonstrations_of_which_some_have_a_simulators_states_have_none():
    stack = Stack("x")
    stack.add(states(3), None, states(3), states(3))
    stack.add(states(2))
    assert stack.demos().qpos is None
