"""Every format comes back as it was, written by its own library where it has one."""

import itertools
import json
import pickle
import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfm.demos import Demos, extras, lerobot, load, save
from sfm.demos.record import Record
from sfm.errors import SfmError

from .samples import PYTHON_2, assert_equal, demos, write_lerobot, write_pickles

WRITERS = {
    "npz": lambda path, d: save(path / "x.npz", d) or path / "x.npz",
    "csv": lambda path, d: save(path / "x.csv", d) or path / "x.csv",
    "minari": lambda path, d: save(path / "x-v0", d, "minari") or path / "x-v0",
    "imitation": lambda path, d: save(path / "x", d, "imitation") or path / "x",
    "lerobot": lambda path, d: save(path / "l3", d, "lerobot") or path / "l3",
    "lerobot-v2.1": lambda path, d: save(path / "l2", d, "lerobot-v2.1") or path / "l2",
    "lerobot2": lambda path, d: write_lerobot(path / "x2", d, "v2.1"),
    "lerobot3": lambda path, d: write_lerobot(path / "x3", d, "v3.0"),
    "pickle": lambda path, d: write_pickles(path / "xp", d),
}
NEEDS = {"minari": "minari", "imitation": "datasets"}
NEEDS |= {name: "pyarrow" for name in WRITERS if name.startswith("lerobot")}
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def any_demos(draw) -> Demos:
    """One to four demonstrations of all numbers that float32 has, with or without actions."""
    obs_dim, action_dim = draw(st.integers(1, 4)), draw(st.sampled_from([None, 1, 3]))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    pool = np.array(draw(st.lists(NUMBERS, min_size=8, max_size=8)), np.float32)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    obs = [rng.choice(pool, (n + 1, obs_dim)) for n in lengths]
    return Demos.from_list(
        obs, None if action_dim is None else [rng.choice(pool, (n, action_dim)) for n in lengths]
    )


few = settings(
    deadline=None,
    derandomize=True,
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(WRITERS, 2)))
@given(original=any_demos())
@few
def test_from_each_format_to_each_other(tmp_path_factory, first, second, original):
    for name in (first, second):
        pytest.importorskip(NEEDS.get(name, "numpy"))
    path = tmp_path_factory.mktemp("formats")
    once = load(WRITERS[first](path, original))
    assert_equal(once, original)
    (path / "again").mkdir()
    assert_equal(load(WRITERS[second](path / "again", once)), original)


def test_content_decides_before_the_suffix(tmp_path):
    given = demos()
    save(tmp_path / "a.npz", given)
    (tmp_path / "a.npz").rename(tmp_path / "a.csv")
    assert_equal(load(tmp_path / "a.csv"), given)
    save(tmp_path / "b.csv", given)
    (tmp_path / "b.csv").rename(tmp_path / "b.unknown")
    with pytest.raises(SfmError, match="in no known format"):
        load(tmp_path / "b.unknown")
    with pytest.raises(SfmError, match="which format"):
        save(tmp_path / "c.xyz", given)
    with pytest.raises(SfmError, match="unknown format 'hdf'"):
        save(tmp_path / "c", given, "hdf")


@pytest.mark.parametrize(
    ("text", "states", "actions"),
    [
        ("1,2\n3,4\n", [[[1, 2], [3, 4]]], None),
        ("1 2\n3 4\n\n5 6", [[[1, 2], [3, 4], [5, 6]]], None),
        ("\ufeffx;y\r\n1;2\r\n3;4\r\n", [[[1, 2], [3, 4]]], None),
        ('"x","y"\n"1","2"\n"3","4"\n', [[[1, 2], [3, 4]]], None),
        ("episode,x\n7,1\n7,2\n3,3\n3,4\n3,5\n", [[[1], [2]], [[3], [4], [5]]], None),
        ("x\taction_0\tstep\n1\t.5\t0\n2\tnan\t1\n", [[[1], [2]]], [[[0.5]]]),
        ("Action[0],Episode,act1,active\n.5,0,1,9\n0,0,0,8\n", [[[9], [8]]], [[[0.5, 1]]]),
    ],
)
def test_csv_layouts(tmp_path, text, states, actions):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert_equal(load(tmp_path / "x.csv"), Demos.from_list(states, actions))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "its first line is empty"),
        ("x,y\n", "there are no demonstrations"),
        ("x,y\n1,2\n", "needs at least 2 states"),
        ("x,y\n1,2\n3\n", "not a table of numbers"),
        ("x,y\n1,2\n3,\n", "not a table of numbers"),
        ("x,y\n1,2\n3,four\n", "not a table of numbers"),
        ("x,y\n1,2,3\n4,5,6\n", "a row has 3 columns, the first line 2"),
        ("x,x\n1,2\n3,4\n", "neither numbers nor a header"),
        ("x,1\n1,2\n3,4\n", "neither numbers nor a header"),
        ("action_0\n1\n2\n", "some state columns"),
        ("episode,x\n0,1\n0,2\n1,3\n1,4\n0,5\n0,6\n", "the rows of episode 0 are not together"),
        ("episode,x\nnan,1\nnan,2\n", "the episode column has gaps"),
        ("1\n1e40\n", "too large for float32"),
        ("1\ninf\n", "is infinite in state 1"),
        ("1\n\0\n", "not a table of numbers"),
    ],
)
def test_bad_csv(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(SfmError, match=re.escape(message)) as info:
        load(tmp_path / "x.csv")
    assert str(tmp_path / "x.csv") in str(info.value)


@pytest.mark.parametrize("protocol", range(6))
@given(original=any_demos())
@few
def test_pickles_of_any_protocol(tmp_path_factory, protocol, original):
    path = write_pickles(tmp_path_factory.mktemp("pickles") / "x", original, protocol)
    assert_equal(load(path), original)


@pytest.mark.parametrize("protocol", range(3))
@pytest.mark.parametrize(
    ("mark", "other"),
    [(b"", b""), (b"U\x18", b"T\x18\0\0\0"), (b"I2\nI3\n", b"L2L\nL3L\n")],  # long strings, long numbers
)
def test_pickles_of_python_2(tmp_path, protocol, mark, other):
    (tmp_path / "x.pkl").write_bytes(PYTHON_2[protocol].replace(mark, other) if mark else PYTHON_2[protocol])
    states = np.array([[0, -1.5, 3e5], [1e-9, 7, 128.25]], np.float32)
    assert_equal(load(tmp_path / "x.pkl"), Demos.from_list([states], [[[0.5]]]))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4", np.int16])
def test_pickles_of_any_number_type(tmp_path, protocol, dtype):
    obs = np.arange(12).reshape(4, 3).astype(dtype)
    for i, value in enumerate(((obs, obs[:, :1]), [obs, obs[:3, :1]], (np.asfortranarray(obs), obs[:, :1]))):
        path = tmp_path / f"{i}.pkl"
        path.write_bytes(pickle.dumps(value, protocol))
        assert_equal(load(path), Demos.from_list([obs], [obs[:, :1]]))


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


# The formats that are folders, and a function of the library that each needs
FOLDERS = {
    "minari": "minari.dataset._storages.hdf5_storage.HDF5Storage.update_episodes",
    "imitation": "datasets.Dataset.save_to_disk",
    "lerobot": "pyarrow.parquet.write_table",
    "lerobot-v2.1": "pyarrow.parquet.ParquetWriter.write_table",
}


@pytest.mark.parametrize("format", FOLDERS)
def test_nothing_is_left_behind_when_a_library_fails(tmp_path, monkeypatch, format):
    pytest.importorskip(NEEDS[format])
    monkeypatch.setattr(FOLDERS[format], _fail)
    with pytest.raises(SfmError, match="could not write"):
        save(tmp_path / "x", demos(), format)
    assert list(tmp_path.iterdir()) == []


def _fail(*args, **kwargs):
    raise OSError("the disk is gone")


@pytest.mark.parametrize("format", FOLDERS)
def test_what_exists_is_not_written_over(tmp_path, format):
    pytest.importorskip(NEEDS[format])
    (tmp_path / "x").mkdir()
    with pytest.raises(SfmError, match="it exists"):
        save(tmp_path / "x", demos(), format)
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]
    assert list((tmp_path / "x").iterdir()) == []


@pytest.mark.parametrize("action_dim", [None, 1, 2])
def test_lerobot_as_its_library_reads_it(tmp_path, action_dim, monkeypatch):
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(lerobot, "_FILE_MB", 0.0005)
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
    ("extra", "module"), [("minari", "h5py"), ("imitation", "pyarrow"), ("lerobot", "pyarrow")]
)
def test_a_missing_library_is_named(monkeypatch, extra, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SfmError, match=re.escape(f"pip install 'successor-feature-matching[{extra}]'")):
        extras.need(module, extra)


def test_recorded_episodes_of_gymnasium(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    played, seen = [], []
    with Record(gymnasium.make("Pendulum-v1", max_episode_steps=5), tmp_path / "x.npz") as env:
        for episode in range(3):
            seen.append([env.reset(seed=episode)[0]])
            for _ in range(5 if episode < 2 else 3):  # the last one does not end
                action = np.array([0.5 * (episode + 1)], np.float32)
                played.append(action)
                seen[-1].append(env.step(action)[0])
        assert env.demos().length.tolist() == [5, 5]
    # Pendulum's torque goes from -2 to 2.
    actions = [np.full((5, 1), torque / 2) for torque in (0.5, 1.0)]
    assert_equal(load(tmp_path / "x.npz"), Demos.from_list([np.stack(x) for x in seen[:2]], actions))


def test_a_recording_without_a_whole_episode_says_so(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    env = Record(gymnasium.make("Pendulum-v1"), tmp_path / "x.npz")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=r"no episode has ended, so .*x.npz was not written"):
        env.close()
    assert not (tmp_path / "x.npz").exists()
