"""A baseline of ratios that can fail."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import suite
from benchmarks.check import Bound, bounds, failures
from sfm.errors import SfmError
from sfm.presets import PRESETS

SPEED = "updates/sfm-td3-cpu/achieved_over_gemm"
SEEDS = "seeds/sfm-td3-cpu/together_over_apart"
EXPECTED = {SPEED: Bound(at_least=0.5, tolerance=0.1), SEEDS: Bound(at_most=0.8, tolerance=0.1)}


@pytest.mark.parametrize(
    ("speed", "seeds"), [(0.5, 0.8), (0.46, 0.87), (0.9, 0.2)], ids=["equal", "tolerated", "better"]
)
def test_ratios_within_their_bounds_pass(speed: float, seeds: float):
    assert failures(EXPECTED, {SPEED: speed, SEEDS: seeds}) == []


def test_a_ratio_below_its_floor_is_named():
    assert failures(EXPECTED, {SPEED: 0.44, SEEDS: 0.8}) == [f"{SPEED} 0.44 is below its floor of 0.45"]


def test_a_ratio_above_its_ceiling_is_named():
    assert failures(EXPECTED, {SPEED: 0.5, SEEDS: 0.9}) == [f"{SEEDS} 0.9 is above its ceiling of 0.88"]


def test_not_a_number_fails_both_ways():
    assert len(failures(EXPECTED, dict.fromkeys(EXPECTED, float("nan")))) == 2


def test_what_was_not_measured_fails_only_where_all_was_to_be():
    assert failures(EXPECTED, {SPEED: 0.5}) == [f"{SEEDS} was not measured"]
    assert failures(EXPECTED, {SPEED: 0.5}, whole=False) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "not a baseline"),
        ('{"ratios": {"a/b/c_over_d": {"least": 1}}}', "not a baseline"),
        ('{"ratios": {"a/b/c_over_d": {"tolerance": 0.1}}}', "needs at_least or at_most"),
        ('{"ratios": {"a/b/c_over_d": {"at_least": 1, "at_most": 2}}}', "needs at_least or at_most"),
        ('{"ratios": {"updates/x/updates_per_s": {"at_least": 100}}}', "not a ratio"),
    ],
)
def test_a_bad_baseline_is_refused(tmp_path: Path, text: str, message: str):
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(SfmError, match=message):
        bounds(path)


def test_the_baseline_names_what_the_suite_measures():
    for name in bounds():
        part, subject, _ = name.split("/")
        assert part in suite.MODULES
        assert subject in PRESETS or part not in ("updates", "flops", "seeds")


@pytest.mark.parametrize(("ratio", "status"), [(0.46, 0), (0.3, 1)])
def test_the_command_fails_with_a_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, ratio: float, status: int
):
    fake = ModuleType("benchmarks.fake")
    fake.updates = lambda settings: iter([("sfm-td3-cpu", {"achieved_over_gemm": ratio, "gflops": 50.0})])  # pyright: ignore
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    monkeypatch.setitem(suite.MODULES, "updates", "fake")
    baseline, out = tmp_path / "baseline.json", tmp_path / "bench.json"
    baseline.write_text(json.dumps({"ratios": {SPEED: {"at_least": 0.5, "tolerance": 0.1}}}))
    args = ["--only", "updates", "--check", "--baseline", str(baseline), "--json", str(out)]
    assert suite.main(args) == status
    assert (f"FAILED {SPEED} 0.3 is below its floor of 0.45" in capsys.readouterr().err) == (status == 1)
    written = json.loads(out.read_text())
    assert written["figures"][SPEED] == ratio
    assert {"processor", "cores", "threads", "jax"} <= written["machine"].keys()
