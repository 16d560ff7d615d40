import threading

import pytest

from sfm.errors import SfmError
from sfm.locks import held


def test_one_at_a_time(tmp_path):
    path = tmp_path / "lock"
    with held(path, "mine"), pytest.raises(SfmError, match="mine"), held(path, "mine"):
        pass
    with held(path, "mine"):
        pass


def test_with_patience_one_waits_for_the_other(tmp_path):
    first = held(tmp_path / "lock", "mine")
    first.__enter__()
    threading.Timer(0.3, lambda: first.__exit__(None, None, None)).start()
    with held(tmp_path / "lock", "mine", patience=60.0):
        pass


def test_a_lock_that_cannot_be_written(tmp_path):
    with pytest.raises(SfmError, match="could not write"), held(tmp_path / "no" / "lock", "mine"):
        pass
