"""Programs kept on disk: read back they compute the same, and nothing stale or damaged is used."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sfm.training import programs

STATE = {"a": jnp.arange(3.0), "b": (jnp.ones(2),)}


@pytest.fixture
def cache(tmp_path):
    before = jax.config.values["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)


@pytest.fixture
def traced():
    """A function, and how often it was traced."""
    times = []

    def function(state, x):
        times.append(1)
        return {"a": state["a"] * x, "b": state["b"]}, {"late": x + 1, "early": state["a"].sum()}

    return function, times


def run(function, recipe="r", x=2.0):
    ready = programs.compiled(function, (STATE, jnp.array(x)), recipe)
    after, metrics = ready(jax.tree.map(jnp.copy, STATE), jnp.array(x))
    np.testing.assert_array_equal(after["a"], [0, x, 2 * x])
    np.testing.assert_array_equal(after["b"][0], [1, 1])
    assert {name: float(value) for name, value in metrics.items()} == {"early": 3.0, "late": x + 1}


def kept(folder):
    return list(folder.glob("program-*.safetensors"))


def test_a_kept_program_is_not_traced_again(cache, traced):
    function, times = traced
    run(function)
    run(function, x=3.0)
    assert len(times) == 1
    assert len(kept(cache)) == 1


def test_another_recipe_or_shape_is_another_program(cache, traced):
    function, times = traced
    run(function)
    run(function, recipe="s")
    programs.compiled(function, (STATE, jnp.ones(3)), "r")
    assert len(times) == len(kept(cache)) == 3


def test_other_code_is_another_program(cache, traced, monkeypatch, tmp_path):
    function, times = traced
    run(function)
    (tmp_path / "room").mkdir()
    (tmp_path / "changed.py").write_text("# not what it was")
    monkeypatch.setattr(programs, "__file__", str(tmp_path / "room" / "programs.py"))
    run(function)
    assert len(times) == 2


def test_a_damaged_program_is_made_anew(cache, traced):
    function, times = traced
    run(function)
    (path,) = kept(cache)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    run(function)
    assert len(times) == 2
    path.write_bytes(b"")
    run(function)
    assert len(times) == 3
    run(function)
    assert len(times) == 3


def test_without_a_cache_nothing_is_kept(traced, tmp_path):
    function, _ = traced
    before = jax.config.values["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", None)
    try:
        run(function)
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
    assert not kept(tmp_path)
