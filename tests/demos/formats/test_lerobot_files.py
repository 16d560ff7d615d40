"""LeRobot datasets as its library reads them, and incomplete ones."""

import json

import numpy as np
import pytest

from sfm.demos import Demos, load, save
from sfm.demos.formats import lerobot_files
from sfm.errors import SfmError
from tests.demos.samples import assert_equal, demos, write_lerobot


@pytest.mark.parametrize("action_dim", [None, 1, 2])
def test_lerobot_as_its_library_reads_it(tmp_path, action_dim, monkeypatch):
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(lerobot_files, "_FILE_MB", 0.0005)
    original = demos(action_dim=action_dim)
    save(tmp_path / "x", original, "lerobot")
    assert_equal(load(tmp_path / "x"), original)
    info = json.loads((tmp_path / "x" / "meta" / "info.json").read_text())
    assert ("action" in info["features"]) == (action_dim is not None)
    tasks = pandas.read_parquet(tmp_path / "x" / "meta" / "tasks.parquet")
    assert tasks.loc["follow the demonstrations"].task_index == 0
    episodes = pandas.read_parquet(tmp_path / "x" / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    assert episodes["length"].tolist() == [5, 3, 8]
    stats = json.loads((tmp_path / "x" / "meta" / "stats.json").read_text())
    types = {
        name: datasets.Value(of["dtype"])
        if of["shape"] == [1]
        else datasets.Sequence(datasets.Value(of["dtype"]), of["shape"][0])
        for name, of in info["features"].items()
    }
    files = [
        info["data_path"].format(chunk_index=row["data/chunk_index"], file_index=row["data/file_index"])
        for _, row in episodes.iterrows()
    ]
    assert len(set(files)) == 2
    for i, (obs, action) in enumerate(original.episodes()):
        table = datasets.Dataset.from_parquet(
            str(tmp_path / "x" / files[i]),
            features=datasets.Features(types),
            cache_dir=str(tmp_path / "cache"),
        )
        rows = table.with_format("numpy")[:]
        mine = rows["episode_index"] == i
        first, last = episodes["dataset_from_index"][i], episodes["dataset_to_index"][i]
        np.testing.assert_array_equal(rows["index"][mine], np.arange(first, last))
        np.testing.assert_array_equal(rows["observation.state"][mine], obs)
        if action is not None:
            np.testing.assert_array_equal(rows["action"][mine][:-1].reshape(action.shape), action)
    states = np.concatenate([obs for obs, _ in original.episodes()]).astype(np.float64)
    for name in ("min", "max", "mean", "std"):
        np.testing.assert_allclose(stats["observation.state"][name], getattr(states, name)(0), rtol=1e-9)
    assert stats["observation.state"]["count"] == [len(states)] == [info["total_frames"]]


def test_lerobot_refuses_what_is_incomplete(tmp_path):
    pytest.importorskip("pyarrow")
    path = write_lerobot(tmp_path / "x", demos(), "v2.1")
    file = path / "data" / "chunk-000" / "episode_000001.parquet"
    assert_equal(load(file), Demos.from_list([demos().obs[1, :3]], [demos().action[1, :2]]))
    file.unlink()
    with pytest.raises(SfmError, match="promises 16 frames, the data has 13"):
        load(path)
    info = json.loads((path / "meta" / "info.json").read_text())
    (path / "meta" / "info.json").write_text(json.dumps(info | {"features": {"observation.image": {}}}))
    with pytest.raises(SfmError, match=r"has no 'observation\.state', only: observation\.image"):
        load(path)


@pytest.mark.parametrize(
    ("episodes", "frames", "message"),
    [
        ([0, 0, 1, 1, 0, 0], [0, 1, 0, 1, 2, 3], "the rows of episode 0 are not together"),
        ([1234567] * 4, [0, 1, 3, 4], "episode 1234567 has frames missing or out of order"),
        ([0, 0, 1, 1], [0, 1, 1, 0], "episode 1 has frames missing or out of order"),
    ],
)
def test_lerobot_refuses_what_is_out_of_order(tmp_path, episodes, frames, message):
    arrow = pytest.importorskip("pyarrow")
    columns = {"observation.state": [0.5] * len(frames), "episode_index": episodes, "frame_index": frames}
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), tmp_path / "x.parquet")
    with pytest.raises(SfmError, match=f"x.parquet: {message}"):
        load(tmp_path / "x.parquet")


def test_an_episode_may_go_on_in_another_batch(tmp_path):
    """They have 8,192 rows."""
    given = demos((10_000, 9_000, 3))
    assert_equal(load(write_lerobot(tmp_path / "x", given, rows=100_000)), given)
