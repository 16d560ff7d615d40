"""The scale of scores, and the file it comes from."""

import numpy as np
import pytest

from sfm.demos import bundled
from sfm.evaluation.scores import normalised, published, reference


def test_random_is_zero_and_the_expert_one():
    random, expert = published()["scale"]["returns"]["walker_walk"]
    scores = normalised("walker_walk", np.array([random, (random + expert) / 2, expert]))
    assert scores == pytest.approx([0.0, 0.5, 1.0])
    assert normalised("walker_walk", expert) == 1.0


def test_tasks_of_others_have_no_scale():
    assert reference("probe_point") is None
    assert normalised("probe_point", np.ones(3)) is None


@pytest.mark.parametrize("task", bundled.names())
def test_every_bundled_task_has_a_scale_that_its_demonstrations_fit(task):
    scale, made = reference(task), bundled.provenance(task)
    assert scale is not None
    assert scale.expert == made["all_returns_mean"]
    assert 0 < scale.random < scale.expert <= max(made["returns"])
    assert 0.94 < normalised(task, scale.expert) < 1.01
    assert abs(normalised(task, scale.random)) < 0.02
