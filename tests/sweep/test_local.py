"""How one machine is shared."""

import pytest

from sfm.errors import SfmError
from sfm.sweep.local import Local, gpu_environment, shares


def test_cores_are_shared_fairly():
    assert shares([0, 1, 2, 3], 2) == [[0, 1], [2, 3]]
    assert shares([2, 3, 5], 2) == [[2], [3, 5]]
    assert shares([0, 1], 2) == [[0], [1]]
    assert shares([4, 6], 3) == [[4], [6], [4]]


def test_gpus_are_shared_as_was_said(monkeypatch):
    fraction = "XLA_PYTHON_CLIENT_MEM_FRACTION"
    assert gpu_environment(1, 3, None) == {fraction: "0.300"}
    assert gpu_environment(1, 3, 0) == {"JAX_PLATFORMS": "cpu"}
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    seen = [gpu_environment(slot, 4, 0.5) for slot in range(4)]
    assert [env["CUDA_VISIBLE_DEVICES"] for env in seen] == ["0", "0", "1", "1"]
    assert {env[fraction] for env in seen} == {"0.450"}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    seen = [gpu_environment(slot, 2, 1) for slot in range(2)]
    assert [env["CUDA_VISIBLE_DEVICES"] for env in seen] == ["4", "7"]
    assert gpu_environment(0, 1, 2)["CUDA_VISIBLE_DEVICES"] == "4,7"


def test_there_must_be_a_worker():
    with pytest.raises(SfmError, match="--workers must be at least 1"):
        Local(0)
