"""The plans of long figures are such that a sweep could begin: their names and settings exist."""

import pytest

from sfm.sweep import plan
from tests.pages.blocks import ROOT

PLANS = sorted((ROOT / "benchmarks").rglob("*.toml"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_every_job_of_a_plan_can_be_configured(path):
    assert plan.wishes(plan.read(path))


@pytest.mark.parametrize("path", [p for p in PLANS if p.parent.name == "motion"], ids=lambda path: path.stem)
def test_figures_from_motion_have_three_seeds_each_and_the_default_preset(path):
    wishes = plan.wishes(plan.read(path))
    for job in {(w.task, w.label, w.demos) for w in wishes}:
        assert len({w.seed for w in wishes if (w.task, w.label, w.demos) == job}) == 3
    assert {w.preset for w in wishes} == {"general"}


def test_angles_are_matched_without_torso_and_velocities():
    (path,) = [p for p in PLANS if p.stem == "human"]
    matched = {w.label: w.config.match for w in plan.wishes(plan.read(path)) if w.label.startswith("angles")}
    assert set(matched.values()) == {("*_hip", "*_knee", "*_ankle")}
    assert len(matched) == 2
