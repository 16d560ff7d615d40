"""Minari datasets, from Minari and to it, without building the environments they name."""

import json

import numpy as np
import pytest

from sfm.demos import load, save
from sfm.errors import SfmError
from tests.demos.samples import assert_equal, demos


def test_minari_by_id_and_with_bounded_actions(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    given = demos()
    save("minari:walks/expert-v3", given)
    assert_equal(load("walks/expert-v3"), given)
    assert_equal(load("minari:walks/expert-v3"), given)
    dataset = minari.load_dataset("walks/expert-v3")
    assert dataset.total_episodes == 3
    np.testing.assert_array_equal(dataset[2].observations, given.obs[2, :8])
    with pytest.raises(SfmError, match="it exists"):
        save("minari:walks/expert-v3", given)
    # As another recorder leaves it, with actuators that go from 0 to 4.
    path = tmp_path / "walks" / "expert-v3" / "data" / "metadata.json"
    metadata = json.loads(path.read_text())
    metadata["action_space"] = json.dumps({"type": "Box", "low": [0.0, 0.0], "high": [4.0, 4.0]})
    path.write_text(json.dumps(metadata))
    assert given.action is not None
    found = load("walks/expert-v3").action
    assert found is not None
    np.testing.assert_allclose(found[0, :4], given.action[0, :4] / 2 - 1, rtol=1e-6)
    with pytest.raises(SfmError, match="does not exist"):
        load("walks/other-v0")


def test_minari_says_that_actions_are_missing(tmp_path):
    minari = pytest.importorskip("minari")
    save(tmp_path / "x", demos(action_dim=None), "minari")
    dataset = minari.MinariDataset(tmp_path / "x" / "data")
    assert np.isnan(dataset[0].actions).all()
    assert dataset.storage.metadata["actions_missing"]
    assert "Actions are missing" in dataset.storage.metadata["description"]


def test_minari_never_builds_the_environment_it_names(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("minari")
    canary = tmp_path / "canary"
    save(tmp_path / "x", demos(), "minari")
    path, file = tmp_path / "x" / "data" / "metadata.json", tmp_path / "x" / "data" / "main_data.hdf5"
    metadata, data = json.loads(path.read_text()), file.read_bytes()
    spec = {"id": "Evil-v0", "entry_point": "os:system", "kwargs": {"command": f"touch {canary}"}}
    evil = {key: value for key, value in metadata.items() if not key.endswith("_space")}
    path.write_text(json.dumps(evil | {"env_spec": json.dumps(spec)}))
    load(tmp_path / "x")
    assert not canary.exists()
    for bad in (
        "",
        "[" * 100_000,
        "[]",
        '{"total_episodes": 9}',
        '{"data_format": "arrow"}',
        '{"action_space": "{"}',
    ):
        path.write_text(bad)
        with pytest.raises(SfmError):
            load(tmp_path / "x")
    path.write_text(json.dumps(metadata))
    (tmp_path / "secret").write_bytes(bytes(100))
    for change in (_link, _external, _virtual, _dictionary, _bomb, _text):
        file.write_bytes(data)
        with h5py.File(file, "a") as groups:
            del groups["episode_1/observations"]
            change(h5py, groups["episode_1"], tmp_path)
        with pytest.raises(SfmError):
            load(tmp_path / "x")


def _link(h5py, group, folder):
    group["observations"] = h5py.ExternalLink(str(folder / "other.hdf5"), "/x")


def _external(h5py, group, folder):
    group.create_dataset("observations", (3, 3), "f4", external=[(str(folder / "secret"), 0, 36)])


def _virtual(h5py, group, folder):
    layout = h5py.VirtualLayout((3, 3), "f4")
    layout[:] = h5py.VirtualSource(str(folder / "other.hdf5"), "x", (3, 3))
    group.create_virtual_dataset("observations", layout)


def _dictionary(h5py, group, folder):
    group.create_group("observations").create_dataset("position", data=np.zeros((3, 3)))


def _bomb(h5py, group, folder):
    group.create_dataset("observations", (10**9, 3), "f4", chunks=(10**4, 3), compression="gzip")


def _text(h5py, group, folder):
    group.create_dataset("observations", data=["a", "b", "c"])
