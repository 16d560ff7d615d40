import os
import resource

import jax
import pytest
from jax._src.lru_cache import LRUCache

from sfm.errors import SfmError
from sfm.presets import preset
from sfm.training.jax_setup import choose_threads, keep_compiled_code
from tests.conftest import tiny


@pytest.mark.parametrize(
    ("config", "threads"),
    [
        (preset("fast"), "1"),
        (preset("fast", seeds=2), None),
        (preset("sfm-td3-cpu"), "1"),
        (preset("sfm-td3"), None),
        (tiny(batch=2**18, replay=2**19), None),
    ],
)
def test_small_networks_use_one_thread(config, threads, monkeypatch):
    monkeypatch.setenv("NPROC", "")  # so that it is undone
    del os.environ["NPROC"]
    choose_threads(config)
    assert os.environ.get("NPROC") == threads
    os.environ["NPROC"] = "7"
    choose_threads(config)
    assert os.environ["NPROC"] == "7"  # whoever set it knows better


def test_compiled_code_is_kept_where_it_can_be(monkeypatch, tmp_path):
    before = jax.config.jax_compilation_cache_dir
    try:
        monkeypatch.setenv("SFM_CACHE", str(tmp_path / "cache"))
        keep_compiled_code()
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "cache")
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("SFM_CACHE", str(tmp_path / "file" / "cache"))
        keep_compiled_code()  # no error
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "cache")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_an_entry_of_the_cache_is_whole_or_not_there(tmp_path):
    """A limit on the size of files stands for a kill: both leave what was written until then."""
    keep_compiled_code()
    cache, limits = LRUCache(str(tmp_path), max_size=-1), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(SfmError, match="larger than the system allows"):
            cache.put("key", bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
    cache.put("key", b"whole")
    assert cache.get("key") == b"whole"


def test_a_torn_entry_of_the_cache_is_written_again(tmp_path):
    """JAX warns of it and would leave it as it is."""
    keep_compiled_code()
    cache = LRUCache(str(tmp_path), max_size=-1)
    (tmp_path / "key-cache").write_bytes(b"who")
    cache.put("key", b"whole")
    assert cache.get("key") == b"whole"
