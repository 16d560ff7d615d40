"""What `sfm demos convert` repairs on the way, in every format that has the part in question."""

import gzip

import numpy as np
import pytest

from sfm.demos import Demos, load, save
from sfm.demos.repair import Repair
from sfm.errors import SfmError
from tests.demos.samples import actions, assert_equal, demos, states, write_lerobot


def repaired(path, obs=None, action=None, reward=None, **changes) -> tuple:
    """What is read from a file with these arrays, or that is there already."""
    if obs is not None:
        given = {"obs": obs, "action": action, "reward": reward}
        np.savez(path, **{name: values for name, values in given.items() if values is not None})
    found = load(path, Repair(**changes))
    rows = None if found.action is None else found.action[0]
    return found.obs[0], rows, None if found.reward is None else found.reward[0]


@pytest.mark.parametrize(
    ("changes", "columns"),
    [
        ({"columns": "3,0-1"}, [3, 0, 1]),
        ({"drop": "1,3"}, [0, 2]),
        ({"reorder": "1,0,2-3"}, [1, 0, 2, 3]),
        ({"columns": "3,2,1", "drop": "2"}, [3, 1]),
    ],
)
def test_columns(tmp_path, changes, columns):
    obs, action, _ = repaired(tmp_path / "x.npz", states(5, 4), actions(5), **changes)
    np.testing.assert_array_equal(obs, states(5, 4)[:, columns])
    np.testing.assert_array_equal(action, actions(5))


def test_units(tmp_path):
    obs, action, _ = repaired(
        tmp_path / "x.npz", states(3), actions(3), scale=("0=2", "action=0.5"), degrees="1-2"
    )
    expected = states(3) * [2, np.pi / 180, np.pi / 180]
    np.testing.assert_allclose(obs, expected, rtol=1e-6)
    np.testing.assert_allclose(action, actions(3) / 2)
    # Columns are those of the file, whatever else happens; a factor alone is for all states.
    obs, _, _ = repaired(tmp_path / "x.npz", columns="2,0", scale=("0=2", "10"))
    np.testing.assert_allclose(obs, 10 * states(3)[:, [2, 0]] * [1, 2])


def test_times(tmp_path):
    reward = np.arange(7.0)
    obs, action, gains = repaired(tmp_path / "x.npz", states(7), actions(7), reward, every=3)
    np.testing.assert_array_equal(obs, states(7)[:7:3])
    np.testing.assert_allclose(action, [actions(7)[:3].mean(0), actions(7)[3:6].mean(0)], rtol=1e-6)
    np.testing.assert_array_equal(gains, [3, 12])
    for text, part in (("2:6", slice(2, 6)), ("2:", slice(2, None)), (":4", slice(4))):
        obs, action, gains = repaired(tmp_path / "x.npz", slice=text)
        np.testing.assert_array_equal(obs, states(7)[part])
        np.testing.assert_array_equal(action, actions(7)[part.start : (part.stop or 8) - 1])
        assert gains is not None
        assert len(gains) == len(obs) - 1


def test_the_simulator_s_states_stay_beside(tmp_path):
    np.savez(tmp_path / "x.npz", obs=states(7), qpos=states(7, 2), qvel=states(7, 1))
    found = load(tmp_path / "x.npz", Repair(slice="1:", every=2, drop="0"))
    assert found.qpos is not None
    np.testing.assert_array_equal(found.qpos[0], states(7, 2)[1::2])
    np.testing.assert_array_equal(found.obs[0], states(7)[1::2, 1:])


def test_what_cannot_be_read_can_be_repaired(tmp_path):
    """A number that is none, or too large, goes before it is judged."""
    bad = states(6).astype(np.float64)
    bad[5, 0], bad[0, 2] = np.nan, 1e300
    obs, _, _ = repaired(tmp_path / "x.npz", bad, slice=":5", drop="2")
    np.testing.assert_array_equal(obs, states(6)[:5, :2])
    obs, _, _ = repaired(tmp_path / "x.npz", slice=":5", scale=("2=1e-300",))
    assert obs[0, 2] == 1


def test_tables_by_the_names_of_their_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Time,hip,label,knee,torque,frame\n0s,1,a,2,.5,0\n1s,3,b,4,.25,1\n2s,5,c,6,0,2\n")
    with pytest.raises(SfmError, match="not a table of numbers"):
        load(path)
    obs, action, _ = repaired(path, drop="label", rename=("torque=action_0",))
    np.testing.assert_array_equal(obs, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(action, [[0.5], [0.25]])
    obs, action, _ = repaired(path, columns="knee,hip", scale=("knee=10",))
    np.testing.assert_array_equal(obs, [[20, 1], [40, 3], [60, 5]])
    assert action is None
    with pytest.raises(SfmError, match=r"x\.csv: --drop: unknown column 'labl': did you mean label"):
        load(path, Repair(drop="labl"))


def test_fields(tmp_path):
    np.savez(tmp_path / "x.npz", observations=states(4), goals=states(4, 2), acts=actions(4))
    with pytest.raises(SfmError, match="--rename OLD=NEW"):
        load(tmp_path / "x.npz")
    obs, action, _ = repaired(tmp_path / "x.npz", rename=("observations=obs", "acts=action"))
    np.testing.assert_array_equal(obs, states(4))
    np.testing.assert_array_equal(action, actions(4))
    obs, action, _ = repaired(tmp_path / "x.npz", key="observations,goals")
    np.testing.assert_array_equal(obs, np.c_[states(4), states(4, 2)])
    assert action is None
    with pytest.raises(SfmError, match="unknown field 'goal': did you mean goals"):
        load(tmp_path / "x.npz", Repair(key="goal"))
    np.save(tmp_path / "x.npy", states(4))
    with pytest.raises(SfmError, match=r"x\.npy has no fields with names"):
        load(tmp_path / "x.npy", Repair(key="obs"))


def test_the_field_of_a_lerobot_dataset(tmp_path):
    pytest.importorskip("pyarrow")
    given = demos()
    found = load(write_lerobot(tmp_path / "x", given), Repair(key="action"))
    assert found.obs.shape[2] == 2
    assert given.action is not None
    np.testing.assert_array_equal(found.obs[0, :4], given.action[0, :4])
    with pytest.raises(SfmError, match=r"unknown field 'observation\.stat'"):
        load(tmp_path / "x", Repair(key="observation.stat"))


def test_the_field_of_a_minari_dataset(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("minari")
    save(tmp_path / "x", demos((4,)), "minari")
    with h5py.File(tmp_path / "x" / "data" / "main_data.hdf5", "a") as groups:
        episode = groups["episode_0"]
        del episode["observations"]
        inside = episode.create_group("observations")
        inside["position"], inside["goal"] = states(4), states(4, 1)
    with pytest.raises(SfmError, match="is a dictionary of goal, position: choose with --key"):
        load(tmp_path / "x")
    np.testing.assert_array_equal(repaired(tmp_path / "x", key="position")[0], states(4))
    joined = repaired(tmp_path / "x", key="goal,position")[0]
    np.testing.assert_array_equal(joined, np.c_[states(4, 1), states(4)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": "5"}, "--columns 5: the states have columns 0 to 2"),
        ({"columns": "2-1"}, "--columns 2-1: the states"),
        ({"columns": "1,1"}, "a column is named twice"),
        ({"drop": "x"}, "unknown column 'x': known: 0 to 2"),
        ({"drop": "0-2"}, "--drop leaves no column"),
        ({"reorder": "1,0"}, "--reorder must name each of the 3 columns once"),
        ({"columns": "0", "reorder": "2,1,0"}, "exclude each other"),
        ({"scale": ("0=x",)}, "write COLUMNS=FACTOR"),
        ({"scale": ("=2",)}, "write COLUMNS=FACTOR"),
        ({"scale": ("inf",)}, "write COLUMNS=FACTOR"),
        ({"every": 0}, "--every must be at least 1"),
        ({"every": 9}, "--slice or --every leaves 1 states"),
        ({"slice": "3:3"}, "--slice or --every leaves 0 states"),
        ({"slice": "5"}, "write A:B"),
        ({"rename": ("obs",)}, "write OLD=NEW"),
        ({"rename": ("ob=x",)}, "unknown column to rename 'ob': did you mean obs"),
    ],
)
def test_what_is_no_repair(tmp_path, changes, message):
    np.savez(tmp_path / "x.npz", obs=states(4))
    with pytest.raises(SfmError, match=message) as info:
        load(tmp_path / "x.npz", Repair(**changes))
    assert "\n" not in str(info.value)


def test_packed_files(tmp_path):
    given = demos()
    for suffix in ("csv", "npz"):
        save(tmp_path / f"x.{suffix}", given)
        plain = (tmp_path / f"x.{suffix}").read_bytes()
        (tmp_path / f"y.{suffix}.gz").write_bytes(gzip.compress(plain))
        assert_equal(load(tmp_path / f"y.{suffix}.gz"), given)
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(b"x\n1\nfour\n"))
    with pytest.raises(SfmError, match=r"/z\.csv\.gz is not a table of numbers"):
        load(tmp_path / "z.csv.gz")
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(plain)[:-9])
    with pytest.raises(SfmError, match=r"z\.csv\.gz: the file is damaged or cut off"):
        load(tmp_path / "z.csv.gz")
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(bytes(100 << 20)))
    with pytest.raises(SfmError, match=r"is refused: .* bytes that claim to hold"):
        load(tmp_path / "z.csv.gz")


def test_a_folder_is_read_whole_or_refused(tmp_path):
    given = demos((4,), action_dim=None)
    save(tmp_path / "a.npz", given)
    np.save(tmp_path / "b.npy", given.obs[0])
    for name in (".hidden.npz", "._a.npz", ".DS_Store"):
        (tmp_path / name).write_bytes(b"junk")
    (tmp_path / "README.txt").write_text("about them")
    (tmp_path / "C.NPZ").write_bytes((tmp_path / "a.npz").read_bytes())
    assert load(tmp_path).length.tolist() == [4, 4, 4]
    save(tmp_path / "d.csv", given)
    with pytest.raises(SfmError, match=r"holds \.csv and \.npy and \.npz files: put those"):
        load(tmp_path)


@pytest.mark.parametrize("target", ["x.npz", "x.csv", "minari", "imitation", "lerobot", "lerobot-v2.1"])
def test_rewards_survive_every_format(tmp_path, target, monkeypatch):
    for module in {"minari": ["minari"], "imitation": ["datasets"]}.get(target, ["pyarrow"]):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)  # a relative path is a path, too
    rewards = [np.arange(n) / 8 for n in (4, 2, 7)]
    some = demos()
    obs, action = zip(*some.episodes(), strict=True)
    given = Demos.from_list(obs, action, reward_list=rewards)
    save(target, given, None if "." in target[:3] else target)
    found = load(target)
    assert_equal(found, given)
    assert found.returns is not None
    np.testing.assert_allclose(found.returns, [r.sum() for r in rewards])
    save(f"{target}-none.npz", some)
    assert load(f"{target}-none.npz").returns is None


def test_a_return_alone_is_kept(tmp_path):
    """As earlier versions collected: it is known of the whole, so a part has its share."""
    np.savez(tmp_path / "x.npz", obs=states(4), provenance='{"returns": [10.0]}')
    returns = load(tmp_path / "x.npz").returns
    assert returns is not None
    assert returns.tolist() == [10.0]
    half = load(tmp_path / "x.npz", Repair(slice=":3")).returns
    assert half is not None
    assert half.tolist() == [5.0]
    for other in ("[]", "no json", '{"returns": [1, 2]}'):
        np.savez(tmp_path / "x.npz", obs=states(4), provenance=other)
        assert load(tmp_path / "x.npz").returns is None
