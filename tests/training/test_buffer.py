"""Replay: what is sampled was stored, what is stored is the newest, and nothing is stored twice."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfm.agents.types import Spec
from sfm.training import buffer
from sfm.training.buffer import Episodes, Layout

LONGEST, CAPACITY, ROWS = 8, 40, 6
add = jax.jit(buffer.add)
draw = jax.jit(buffer.sample, static_argnums=3, static_argnames=("goals", "recent", "spec"))


def episode(number: int, length: int, terminated: bool) -> Episodes:
    """Every value says where it is from: state t of episode k is (k, t), its action and reward likewise."""
    t = np.arange(LONGEST + 1, dtype=np.float32)
    obs = np.stack([np.full(LONGEST + 1, number), t], -1).astype(np.float32)
    obs[length + 1 :] = -1  # padding
    action = (100 * number + t[:-1, None]).astype(np.float32)
    return Episodes(obs[None], action[None], -action[None, :, 0], np.array([length]), np.array([terminated]))


def fill(plan, capacity=CAPACITY, rows=ROWS):
    """The replay and layout after the episodes of `plan`, each (length, terminated)."""
    layout, replay = Layout(capacity, rows), buffer.empty(1, capacity, 2, 1)
    for number, (length, terminated) in enumerate(plan):
        replay = add(replay, *buffer.rows_of([layout], [episode(number, length, terminated)]))
    return replay, layout


def sample(replay, layout, count=512, seed=0):
    """Rows of (episode, time, next time, goal time, mask), after checking that each row is of one piece."""
    one = jax.tree.map(lambda x: x[0], (replay, buffer.stack_tables([layout])))
    batch = jax.tree.map(np.asarray, draw(*one, jax.random.key(seed), count, goals=True))
    (number, time), (same, following), (again, goal) = batch.obs.T, batch.next_obs.T, batch.goal.T
    np.testing.assert_array_equal(number, same)
    np.testing.assert_array_equal(number, again)
    np.testing.assert_array_equal(following, time + 1)
    np.testing.assert_array_equal(batch.action[:, 0], 100 * number + time)
    np.testing.assert_array_equal(batch.reward, -batch.action[:, 0])
    return number.astype(int), time.astype(int), goal.astype(int), batch.mask


plans = st.lists(st.tuples(st.integers(1, LONGEST), st.booleans()), min_size=1, max_size=25)


@settings(max_examples=20)
@given(plans, st.integers(2, 4))
def test_what_is_ahead_stays_in_the_episode(plan, n):
    replay, layout = fill(plan)
    one = jax.tree.map(lambda x: x[0], (replay, buffer.stack_tables([layout])))
    drawn = draw(*one, jax.random.key(0), 256, spec=Spec(2, 1, 0.9, n))
    batch = jax.tree.map(np.asarray, drawn)
    number, time = batch.obs.T.astype(int)
    length, terminated = np.array(plan)[number].T
    k = time[:, None] + np.arange(1, n)
    inside = k < length[:, None]
    ahead = batch.n_step
    np.testing.assert_allclose(ahead.weight, inside * 0.9 ** np.arange(1, n), rtol=1e-6)
    np.testing.assert_array_equal(ahead.obs[..., 0], np.repeat(number[:, None], n - 1, 1))
    np.testing.assert_array_equal(ahead.obs[..., 1][inside], k[inside])
    np.testing.assert_array_equal(ahead.next_obs[..., 1][inside], k[inside] + 1)
    np.testing.assert_array_equal(ahead.reward[inside], -(100 * number[:, None] + k)[inside])
    steps = np.minimum(n, length - time)
    np.testing.assert_array_equal(ahead.last.T, [number, time + steps])
    ends = (time + steps == length) & terminated.astype(bool)
    np.testing.assert_allclose(ahead.discount, np.where(ends, 0, 0.9**steps), rtol=1e-6)


def test_the_newest_transitions_can_be_asked_for():
    replay, layout = fill([(5, False)] * 3)
    stored, table = jax.tree.map(lambda x: x[0], (replay, buffer.stack_tables([layout])))
    newest = [(1, 3), (1, 4), *((2, t) for t in range(5))]
    for seed in range(9):
        few = draw(stored, table._replace(recent=7), jax.random.key(seed), 7, recent=True)
        drawn = [tuple(row) for row in np.asarray(few.obs, int).tolist()]
        assert sorted(drawn) == newest  # one from each of as many spans, which are single transitions here
    more = draw(stored, table, jax.random.key(0), 512, recent=True)
    assert len({tuple(row) for row in np.asarray(more.obs).tolist()}) == 15


def test_a_minibatch_takes_several_windows_in_turn():
    """Half of it is spread evenly over the long one, half over the short one, and all of both can come up."""
    replay, layout = fill([(5, False)] * 4)
    stored, table = jax.tree.map(lambda x: x[0], (replay, buffer.stack_tables([layout])))
    windows, seen = table._replace(recent=np.array([20, 4], np.int32)), np.zeros((2, 20), int)
    for seed in range(40):
        obs = np.asarray(draw(stored, windows, jax.random.key(seed), 8, recent=True).obs, int)
        ago = 19 - (5 * obs[:, 0] + obs[:, 1])
        assert (ago[0::2] // 5).tolist() == [0, 1, 2, 3]
        assert ago[1::2].tolist() == [0, 1, 2, 3]
        for k in (0, 1):
            seen[k] += np.bincount(ago[k::2], minlength=20)
    assert (seen[0] > 0).all()
    assert seen[1].tolist() == [40] * 4 + [0] * 16


@settings(max_examples=40)
@given(plans)
def test_every_sample_is_a_transition_of_a_stored_episode(plan):
    replay, layout = fill(plan)
    number, time, goal, mask = sample(replay, layout)
    kept = len(layout.episodes)
    length, terminated = np.array(plan)[number].T
    assert number.min() >= len(plan) - kept  # the newest
    assert (time < length).all()
    assert (goal > time).all()
    assert (goal <= length).all()
    np.testing.assert_array_equal(mask, 1.0 - ((time == length - 1) & (terminated == 1)))


@settings(max_examples=200)
@given(plans)
def test_the_newest_episodes_are_kept_in_slots_of_their_own(plan):
    layout = Layout(CAPACITY, ROWS)
    for length, terminated in plan:
        layout.place(length, terminated)
    kept = list(layout.episodes)
    assert [(n, t) for _, n, t, _ in kept] == plan[-len(kept) :]
    slots = [slot for start, n, *_ in kept for slot in range(start, start + n + 1)]
    assert len(set(slots)) == len(slots)  # each state once, none overwritten
    assert 0 <= min(slots) <= max(slots) < CAPACITY
    if len(kept) < len(plan):  # something was given up: then because rows or slots had run out
        assert len(kept) == ROWS or len(slots) > CAPACITY - 3 * (LONGEST + 1)


@settings(max_examples=50)
@given(plans)
def test_of_older_checkpoints_everything_is_a_visit(plan):
    layout, restored = Layout(CAPACITY, ROWS), Layout(CAPACITY, ROWS)
    for length, terminated in plan:
        layout.place(length, terminated)
    state = layout.state()
    restored.restore(state | {"episodes": state["episodes"][:, :3]})
    assert restored.episodes == layout.episodes


@settings(max_examples=50)
@given(plans)
def test_the_table_counts_transitions(plan):
    layout = Layout(CAPACITY, ROWS)
    for length, terminated in plan:
        layout.place(length, terminated)
    table, kept = layout.table(), list(layout.episodes)
    n = len(kept)
    assert table.total == table.visits == sum(length for _, length, *_ in kept)
    assert table.first[:n].tolist() == [sum(k[1] for k in kept[:i]) for i in range(n)]
    assert (table.first[n:] == np.iinfo(np.int32).max).all()
    np.testing.assert_array_equal(table.first, table.visit)


def test_samples_are_uniform_over_transitions():
    plan = [(8, False), (1, True), (3, False), (5, True)]
    number, time, *_ = sample(*fill(plan), count=17_000)
    counts = np.unique(number * 10 + time, return_counts=True)[1]
    assert len(counts) == 17
    assert ((counts - 1000) ** 2 / 1000).sum() < 40  # chi-square with 16 degrees: 0.1% lie above 39


def test_goals_lie_geometrically_ahead_within_the_episode():
    plan = [(LONGEST, False)]
    _, time, goal, _ = sample(*fill(plan), count=20_000)
    ahead = (goal - time)[time == 0]
    for k in range(1, LONGEST):
        assert np.mean(ahead == k) == pytest.approx(0.02 * 0.98 ** (k - 1), abs=0.009)
    assert np.mean(ahead == LONGEST) == pytest.approx(0.98 ** (LONGEST - 1), abs=0.02)


def test_without_goals_the_goal_is_the_next_state():
    replay, layout = fill([(5, False)])
    one = jax.tree.map(lambda x: x[0], (replay, buffer.stack_tables([layout])))
    batch = draw(*one, jax.random.key(0), 16)
    np.testing.assert_array_equal(batch.goal, batch.next_obs)


@settings(max_examples=30)
@given(plans, plans)
def test_a_restored_layout_goes_on_as_if_nothing_had_happened(before, after):
    layout, restored = Layout(CAPACITY, ROWS), Layout(CAPACITY, ROWS)
    for row in before:
        layout.place(*row)
    restored.restore(layout.state())
    assert [layout.place(*row) for row in after] == [restored.place(*row) for row in after]
    assert list(layout.episodes) == list(restored.episodes)


def test_contents_survive_the_way_to_the_host_and_back():
    replay, layout = fill([(5, False), (3, True)])
    used = buffer.slots_used([layout])
    assert used == 10
    arrays = buffer.to_host(replay, used)
    assert arrays["obs"].shape == (1, 10, 2)
    back = buffer.from_host(buffer.empty(1, CAPACITY, 2, 1), arrays)
    jax.tree.map(np.testing.assert_array_equal, back, replay)


def test_a_seed_that_adds_nothing_keeps_what_it_has():
    layouts = [Layout(CAPACITY, ROWS), Layout(CAPACITY, ROWS)]
    replay = buffer.empty(2, CAPACITY, 2, 1)
    for i in range(3):
        second = episode(i, 4, True) if i == 0 else None
        replay = add(replay, *buffer.rows_of(layouts, [episode(i, 5, False), second]))
    assert [len(layout.episodes) for layout in layouts] == [3, 1]
    np.testing.assert_array_equal(replay.obs[1, :5, 0], 0)
    np.testing.assert_array_equal(replay.obs[1, :5, 1], range(5))
    assert not np.asarray(replay.obs[1, 5:]).any()  # padding of its episode was dropped, too


@given(plans, st.lists(st.integers(1, LONGEST), min_size=1, max_size=8))
def test_an_episode_that_comes_in_parts_lies_as_if_it_had_come_whole(plan, cuts):
    """While there is room to grow; at the end of the ring the rest of it becomes an episode of its own."""
    whole, (replay, layout) = fill(plan), (buffer.empty(1, CAPACITY, 2, 1), Layout(CAPACITY, ROWS))
    for number, (length, terminated) in enumerate(plan):
        e, begin = episode(number, length, terminated), 0
        for end in sorted({*(cut for cut in cuts if cut < length), length}):
            part = slice(begin, begin + LONGEST)
            rows = [np.pad(x[:, part], [(0, 0), (0, begin)] + [(0, 0)] * (x.ndim - 2)) for x in e[1:3]]
            obs = np.pad(e.obs[:, begin:], [(0, 0), (0, begin), (0, 0)])
            done = np.array([terminated and end == length])
            now = Episodes(obs, *rows, np.array([end - begin]), done)
            replay = add(replay, *buffer.rows_of([layout], [now], go_on=begin > 0))
            begin = end
    sample(replay, layout)  # checks that rows are of one piece
    if sum(length + 1 for length, _ in plan) <= CAPACITY:
        assert list(layout.episodes) == list(whole[1].episodes)
        np.testing.assert_array_equal(replay.obs, whole[0].obs)
        np.testing.assert_array_equal(replay.reward, whole[0].reward)
    slots = [slot for start, n, *_ in layout.episodes for slot in range(start, start + n + 1)]
    assert len(slots) == len(set(slots))


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(1, LONGEST), st.booleans()), min_size=1, max_size=12), st.integers(1, 40)
)
def test_what_is_recent_is_drawn_from_visits_alone(plan, recent):
    """In this plan a row says whether it is a visit, and not whether it terminated."""
    layout, replay = Layout(CAPACITY, ROWS), buffer.empty(1, CAPACITY, 2, 1)
    for number, (length, visit) in enumerate([*plan, (1, True)]):
        one = episode(number, length, False)
        replay = add(replay, *buffer.rows_of([layout], [one], visited=int(visit)))
    stored, table = jax.tree.map(lambda x: x[0], (replay, buffer.stack_tables([layout])))
    kept = [*plan, (1, True)][-len(layout.episodes) :]
    first = len(plan) + 1 - len(kept)
    visits = [(first + i, t) for i, (length, visit) in enumerate(kept) if visit for t in range(length)]
    newest = visits[-min(recent, len(visits)) :]
    assert table.visits == len(visits)
    few = table._replace(recent=np.int32(len(newest)))
    drawn = np.asarray(draw(stored, few, jax.random.key(0), 256, recent=True).obs).astype(int)
    assert {tuple(row) for row in drawn.tolist()} == set(newest)
    everything = np.asarray(draw(stored, few, jax.random.key(0), 512).obs).astype(int)
    assert {number for number, _ in everything.tolist()} == {first + i for i in range(len(kept))}


def test_several_environments_at_once():
    layout, replay = Layout(CAPACITY, ROWS), buffer.empty(1, CAPACITY, 2, 1)
    both = Episodes(*(np.concatenate(x) for x in zip(episode(0, 3, True), episode(1, 8, False), strict=True)))
    replay = add(replay, *buffer.rows_of([layout], [both]))
    number, time, *_ = sample(replay, layout)
    assert set(zip(number, time, strict=True)) == {(0, t) for t in range(3)} | {(1, t) for t in range(8)}


def test_a_transition_takes_the_bytes_of_one_state_one_action_and_one_reward():
    obs_dim, action_dim, replay_size, steps = 24, 6, 100_000, 1000
    layout = Layout.holding(replay_size, steps)
    capacity = layout.capacity
    for _ in range(150):
        layout.place(steps, False)
    rings = jax.eval_shape(lambda: buffer.empty(1, capacity, obs_dim, action_dim))
    size = sum(ring.size * ring.dtype.itemsize for ring in rings)
    stored = int(layout.table().total)
    assert stored >= replay_size
    assert size / stored == pytest.approx(4 * (obs_dim + action_dim + 1), rel=0.05)
