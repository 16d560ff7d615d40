"""`sfm demos from-motion`: from a clip to a file that training takes."""

import json

import numpy as np
import pytest

from sfm.cli import demos as command
from sfm.demos import load
from sfm.envs import make
from sfm.errors import SfmError
from tests.cli.helpers import says


def test_a_bundled_clip_becomes_a_demonstration(tmp_path, capsys):
    out = tmp_path / "walk.npz"
    words = ["from-motion", "human_walk", "walker_walk", "--seconds", "3"]
    assert command.main([*words, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "human_walk: a cycle of 1.23" in told
    assert "these follow nothing in the clip: rootz, rootx, rooty" in told
    assert f"wrote {out}: 121 states" in told
    demos, env = load(out), make("walker_walk")
    assert demos.action is None
    assert demos.qpos is not None
    assert demos.qvel is not None
    for obs, qpos, qvel in zip(demos.obs[0], demos.qpos[0], demos.qvel[0], strict=True):
        np.testing.assert_allclose(env.observe(qpos, qvel), obs, atol=1e-4)
    with np.load(out) as file:
        made = json.loads(str(file["provenance"]))
    assert made["source"] == "human_walk"
    assert made["mapping"]["right_hip"] == "right_hip"
    assert made["speed"] == pytest.approx(1.2, abs=0.1)
    with pytest.raises(SfmError, match="exists: choose another name, or overwrite it with --force"):
        command.main([*words, "--out", str(out)])


def test_a_mapping_is_proposed_edited_and_used(tmp_path, capsys):
    clip, mapping, out = tmp_path / "x.csv", tmp_path / "m.toml", tmp_path / "x.npz"
    times = np.arange(100) / 50
    rows = np.stack([times, *(30 * np.sin(2 * np.pi * times + k) for k in range(3))], 1)
    header = "time,Hip.R,KneeAngle_R,tilt"
    np.savetxt(clip, rows, delimiter=",", header=header, comments="")
    words = ["from-motion", str(clip), "walker_walk"]
    assert "--propose FILE" in says(capsys, "demos", *words, "--out", out)
    assert command.main([*words, "--propose", str(mapping)]) == 0
    assert mapping.read_text() in capsys.readouterr().out
    assert 'right_hip = "Hip_R"\nright_knee = "KneeAngle_R"\n# right_ankle' in mapping.read_text()
    mapping.write_text(mapping.read_text().replace('"Hip_R"', '"Hip_R + tilt"'))
    command.main([*words, "--mapping", str(mapping), "--out", str(out), "--seconds", "1", "--limits", "keep"])
    demos = load(out)
    assert demos.qpos is not None
    expected = 30 * (np.sin(2 * np.pi * 0.5) + np.sin(2 * np.pi * 0.5 + 2))
    assert np.degrees(demos.qpos[0, 20, 3]) == pytest.approx(expected, abs=0.1)


def test_it_asks_for_what_to_write(capsys):
    assert "give --out FILE" in says(capsys, "demos", "from-motion", "human_walk", "walker_walk")
    assert "by name there are human_walk, walker_run" in says(
        capsys, "demos", "from-motion", "no_clip", "walker_walk", "--out", "x.npz"
    )
