"""Adam, Polyak averages and the debiased moving average."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sfm.agents.optim import Average, Moments, Trained, adam, copy, polyak


def averages(values, decay):
    """The average after each value."""
    zero = Average.zeros(*values.shape[1:])
    return jax.jit(lambda vs: jax.lax.scan(lambda a, v: (a.add(v, decay),) * 2, zero, vs)[1])(values)


def test_a_debiased_average_of_a_constant_is_the_constant():
    constant = np.array([1.0, -2.0, 300.0], np.float32)
    after = averages(np.tile(constant, (20, 1)), 0.98)
    share = 1 - 0.98 ** np.arange(1, 21)
    np.testing.assert_allclose(after.weight, share, rtol=1e-5)
    np.testing.assert_allclose(after.total, share[:, None] * constant, rtol=1e-5)
    for i in range(20):
        now = Average(np.asarray(after.total[i]), np.asarray(after.weight[i]))  # pyright: ignore
        np.testing.assert_allclose(now.mean, constant, rtol=1e-6)


def test_an_average_weighs_the_past_geometrically():
    values, weights = np.array([3.0, -1.0, 5.0]), np.array([0.125, 0.25, 0.5])
    last = jax.tree.map(lambda x: x[-1], averages(values, 0.5))
    assert float(last.mean) == pytest.approx(weights @ values / weights.sum())
    assert float(Average.zeros().mean) == 0


def test_the_first_step_of_adam_has_the_size_of_the_rate():
    @jax.jit
    def run(x):
        trained, value, _ = Trained.create(x, adam(0.1)).step(
            lambda x: (x @ jnp.array([5.0, -2.0, 0.0]), None)
        )
        return trained.net, value

    net, value = run(jnp.ones(3))
    np.testing.assert_allclose(net, [0.9, 1.1, 1.0], rtol=1e-5)
    assert float(value) == 3.0


def test_the_rate_falls_linearly_to_its_final_value():
    def step(trained, _):
        after, _, _ = trained.step(lambda x: (x, None))  # a constant gradient: Adam moves by the rate
        return after, trained.net - after.net

    start = Trained.create(jnp.array(0.0), adam(1.0, 0.2, 4))
    _, moves = jax.jit(lambda t: jax.lax.scan(step, t, length=7))(start)
    np.testing.assert_allclose(moves, [1.0, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2], rtol=1e-4)


def test_polyak_moves_a_target_by_the_rate():
    np.testing.assert_allclose(polyak(np.array([0.0, 2.0]), np.array([1.0, 0.0]), 0.1), [0.1, 1.8])


def test_a_copy_owns_its_memory():
    x = jnp.arange(3.0)
    assert copy({"x": x})["x"].unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def test_the_first_rows_begin_moments_once():
    rows = jnp.arange(12.0).reshape(2, 3, 2)
    begun = Moments.zeros(2).begun(rows)
    np.testing.assert_allclose(begun.mean_and_spread()[0], rows.reshape(-1, 2).mean(0), rtol=1e-6)
    again = begun.begun(100 * rows)
    np.testing.assert_array_equal(again.mean_and_spread()[0], begun.mean_and_spread()[0])


def test_moments_standardise_what_they_have_seen():
    rows = (
        np.array([3.0, -1.0]) + np.array([5.0, 0.1]) * np.random.default_rng(0).normal(size=(500, 2))
    ).astype("f4")
    moments = Moments.zeros(2)
    for part in np.split(rows, 2):
        moments = moments.add(part, decay=0.999999)  # nearly the plain mean
    z = np.asarray(moments.standardise(rows))
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(z.std(0), 1, atol=1e-3)
    assert moments.standardise(np.array([1e6, -1e6])).tolist() == [10, -10]


@pytest.mark.parametrize("centre", [0.0, 1e5])
def test_moments_are_exact_far_from_zero_too(centre):
    """Against the weights of a moving average in float64: with decay q, batch k of n has q^(n-k)."""
    rows = (centre + np.random.default_rng(0).normal([3.0, -1.0], [2.0, 0.5], (400, 64, 2))).astype("f4")
    decay = 0.99
    moments, _ = jax.lax.scan(lambda m, r: (m.add(r, decay), None), Moments.zeros(2), jnp.asarray(rows))
    weight = decay ** np.arange(399, -1, -1.0)
    batches = rows.astype(np.float64) - centre
    mean = np.average(batches.mean(1), axis=0, weights=weight)
    spread = np.sqrt(np.average(np.square(batches - mean).mean(1), axis=0, weights=weight))
    found = moments.mean_and_spread()
    np.testing.assert_allclose(np.asarray(found[0], np.float64) - centre, mean, atol=0.01 if centre else 1e-5)
    np.testing.assert_allclose(found[1], spread, rtol=1e-4)
    z = np.asarray(moments.standardise(rows[-50:].reshape(-1, 2)))
    np.testing.assert_allclose(z, (batches[-50:].reshape(-1, 2) - mean) / spread, atol=2e-3)


def test_moments_of_a_mean_and_a_spread_have_them():
    moments = Moments.of(jnp.array([1e5, -2.0]), jnp.array([0.5, 3.0]))
    np.testing.assert_allclose(moments.mean_and_spread(), [[1e5, -2.0], [0.5, 3.0]], rtol=1e-6)
    after = moments.add(jnp.array([[1e5, -2.0]]), decay=0.75)
    np.testing.assert_allclose(after.mean_and_spread()[1] ** 2, [0.75 * 0.25, 0.75 * 9], rtol=1e-5)


def test_optimistic_adam_repeats_the_change_of_its_step():
    """It steps by rate * (2 r_t - r_{t-1}) where Adam steps by rate * r_t, with r_0 = r_1."""
    gradients = np.array([1.0, 1.0, -3.0, 0.5], np.float32)

    def steps(tx):
        state, out = tx.init(jnp.zeros(())), []
        for gradient in gradients:
            step, state = tx.update(jnp.asarray(gradient), state)
            out.append(float(step))
        return np.array(out)

    r = steps(adam(1e-2))
    np.testing.assert_allclose(steps(adam(1e-2, optimistic=True)), 2 * r - np.r_[r[0], r[:-1]], rtol=1e-5)
