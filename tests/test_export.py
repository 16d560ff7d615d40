"""An exported policy is the policy, in ONNX Runtime and in NumPy alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sfm
from sfm import storage
from sfm.config import Config, to_dict
from sfm.errors import SfmError
from sfm.export import OPSET, as_onnx, export, in_actuators
from sfm.policy import Policy, acting
from sfm.presets import PRESETS
from tests.test_acting import LEARNERS, saved

ort = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

NAMES = {"obs_names": list("abcde"), "action_names": list("xyz"), "control_timestep": 0.02}
RANGE = {"action_low": [-2.0, 0.0, -1.0], "action_high": [2.0, 3.0, 1.0]}


def runner(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # the networks are small
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def assert_is_predict(model, policy, obs):
    """In a batch, and one by one."""
    session, single = runner(model), [obs[i : i + 1] for i in range(len(obs))]
    batch = session.run(["action"], {"observation": obs})[0]
    np.testing.assert_allclose(batch, policy.predict(obs)[0], atol=1e-5)
    singles = np.concatenate([session.run(["action"], {"observation": one})[0] for one in single])
    np.testing.assert_allclose(singles, [policy.predict(one)[0] for one in obs], atol=1e-5)
    return batch


def states(count, obs_dim, seed=1):
    """Some near zero, some far beyond what standardising keeps."""
    rng = np.random.default_rng(seed)
    spread = 10.0 ** rng.uniform(-3, 1.5, (count, 1))
    return (rng.standard_normal((count, obs_dim)) * spread).astype(np.float32)


@pytest.mark.parametrize("normalise", ["none", "all"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_in_onnx_runtime_is_predict(name, normalise, tmp_path):
    config = Config(learner=LEARNERS[name], normalise=normalise)
    path = saved(config, tmp_path / "policy.safetensors", **NAMES, **RANGE)
    export(path, tmp_path / "policy.onnx")
    batch = assert_is_predict(tmp_path / "policy.onnx", sfm.load_policy(path), states(10_000, 5))
    assert (batch >= RANGE["action_low"]).all()
    assert (batch <= RANGE["action_high"]).all()


def forms():
    """For each network that a preset's policy can be, the first preset that has it."""
    found = {acting(to_dict(config)): name for name, config in reversed(PRESETS.items())}
    return sorted(found.values())


@pytest.mark.parametrize("name", forms())
def test_every_preset(name, tmp_path):
    config = PRESETS[name]
    path = saved(
        config, tmp_path / "policy.safetensors", 24, 6, **NAMES | {"obs_names": [], "action_names": []}
    )
    export(path, tmp_path / "policy.onnx")
    assert_is_predict(tmp_path / "policy.onnx", sfm.load_policy(path), states(10_000, 24))


def test_a_bundled_expert_says_what_it_is(tmp_path):
    told = export("walker_walk", tmp_path / "policy.onnx")
    session = runner(tmp_path / "policy.onnx")
    meta = session.get_modelmeta().custom_metadata_map
    assert json.loads(meta["observation_names"]) == told["observation_names"]
    assert (told["observation_names"][0], told["action_names"][0]) == ("orientations/torso.xx", "right_hip")
    assert (meta["task"], meta["control_hz"], meta["action_repeat"], meta["opset"]) == (
        "walker_walk", "40.0", "1", str(OPSET),
    )  # fmt: skip
    assert session.get_inputs()[0].shape == ["batch", 24]
    env = sfm.make_env("walker_walk")
    obs = env.reset(3)
    for _ in range(20):
        (action,) = session.run(None, {"observation": obs[None]})
        np.testing.assert_allclose(action[0], sfm.load_policy("walker_walk").predict(obs)[0], atol=1e-5)
        obs, *_ = env.step(action[0])


def test_shapes_are_those_of_the_spaces():
    config = Config(learner=LEARNERS["td3"])
    arrays = {"actor/layers/0/weight": np.eye(4, 2, dtype="f"), "actor/layers/0/bias": np.zeros(2, "f")}
    from sfm.acting import Actor

    shape = {"far": [], "goal": {"place": [1, 2]}, "speed": [1]}
    meta = {"obs_dim": 4, "action_dim": 2, "obs_shape": shape, "action_shape": [2, 1]}
    policy = Policy(Actor(arrays, "td3", config.learner), meta)
    session = runner(as_onnx(*in_actuators(policy), policy, {}))
    assert {i.name: i.shape for i in session.get_inputs()} == {
        "far": ["batch"], "goal/place": ["batch", 1, 2], "speed": ["batch", 1],
    }  # fmt: skip
    rng = np.random.default_rng(0)
    far, place, speed = (rng.standard_normal((7, *s)).astype("f") for s in ([], [1, 2], [1]))
    (action,) = session.run(None, {"far": far, "goal/place": place, "speed": speed})
    assert action.shape == (7, 2, 1)
    wanted, _ = policy.predict({"far": far, "goal": {"place": place}, "speed": speed})
    np.testing.assert_allclose(action, wanted, atol=1e-6)


def test_a_run_says_its_commit_and_its_rate(tmp_path):
    path = saved(
        Config(learner=LEARNERS["td7"]), tmp_path / "run" / "policies" / "kept_seed0.safetensors",
        action_repeat=2, seed=0, **NAMES,
    )  # fmt: skip
    rows = [{"began": "then", "commit": "1234567"}, {"ended": "later"}]
    (tmp_path / "run" / "history.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = export(tmp_path / "run", tmp_path / "a" / "policy.npz")
    assert (told["commit"], told["control_hz"], told["action_repeat"]) == ("1234567", 50, 2)
    assert told["observation_names"] == list("abcde")
    assert "opset" not in told
    with np.load(tmp_path / "a" / "policy.npz", allow_pickle=False) as file:
        meta = json.loads(str(file["meta"]))
        arrays = storage.read_arrays(path)[0]
        assert {k for k in file if not k.startswith("action/")} == {"meta", *arrays}
    assert meta["operations"][0][0] == "join"


@pytest.mark.parametrize("name", LEARNERS)
def test_numpy_alone_reads_an_npz(name, tmp_path):
    """By the reader that docs/deploy.md prints, in a process that cannot import sfm."""
    text = (Path(__file__).parents[1] / "docs" / "deploy.md").read_text()
    (reader,) = [part.split("```")[0] for part in text.split("```python\n")[1:] if "def load(" in part]
    path = saved(
        Config(learner=LEARNERS[name], normalise="all"), tmp_path / "p.safetensors", **NAMES, **RANGE
    )
    export(path, tmp_path / "policy.npz")
    obs = states(100, 5)
    np.save(tmp_path / "obs.npy", obs)
    (tmp_path / "reader.py").write_text(reader)
    (tmp_path / "sfm.py").write_text("raise ImportError('sfm was imported')")
    code = "import numpy as n, reader; n.save('out', reader.load('policy.npz')[0](n.load('obs.npy')))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    actions = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(actions, sfm.load_policy(path).predict(obs)[0], atol=1e-6)


def test_what_cannot_be_written_is_refused(tmp_path, monkeypatch):
    with pytest.raises(SfmError, match=r"--to must end in .onnx or .npz, not 'policy.pt'"):
        export("walker_walk", tmp_path / "policy.pt")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(SfmError, match=r"pip install 'successor-feature-matching\[onnx\]'"):
        export("walker_walk", tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []


def test_the_example_needs_no_sfm(tmp_path):
    export("walker_walk", tmp_path / "policy.onnx")
    (tmp_path / "sfm.py").write_text("raise ImportError('sfm was imported')")
    example = Path(__file__).parents[1] / "examples" / "onnx_policy.py"
    words = [sys.executable, example, "policy.onnx", "walker", "walk"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert told[0] == "walker_walk at 40.0 Hz, commit unknown"
    assert float(told[2].removeprefix("return ")) > 900
