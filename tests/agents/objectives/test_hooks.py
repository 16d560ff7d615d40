"""What holds for every objective: it is found by its config, and its critic has the right target."""

import typing

import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, assert_close, random_batch, rng, small_sfm

from sfm.agents.learners.base import Critics
from sfm.agents.nets import over_twins
from sfm.agents.objectives import Objective, make_objective
from sfm.config import DiscriminatorConfig, ObjectiveConfig, OPOLOConfig, RewardConfig


def test_every_config_has_its_objective():
    configs = typing.get_args(ObjectiveConfig)
    made = [make_objective(config(), SPEC) for config in configs]
    assert all(type(objective.config) is config for objective, config in zip(made, configs, strict=True))
    assert len({type(objective) for objective in made}) == len(configs)
    assert set(configs) <= Objective.of_config.keys()


@pytest.mark.parametrize(
    ("config", "reduced"),
    [
        (small_sfm(), np.mean),
        (RewardConfig(), np.min),
        (DiscriminatorConfig(), np.min),
        (DiscriminatorConfig(sees="pair"), np.min),
        (OPOLOConfig(), np.min),
    ],
)
def test_the_target_takes_the_mean_of_vector_twins_and_the_lower_of_scalar_ones(config, reduced):
    objective, batch = make_objective(config, SPEC), random_batch()
    psi = np.random.default_rng(0).normal(size=(2, 32, objective.dim)).astype(np.float32)
    critics = Critics(
        psi=lambda obs, action: jnp.zeros_like(psi),
        target=lambda obs, action: jnp.asarray(psi),
        pi=lambda obs: (batch.action, jnp.zeros(32)),
        bootstrap=lambda twins: over_twins(jnp.asarray(psi), twins),
    )
    cumulant = np.random.default_rng(1).normal(size=(32, objective.dim)).astype(np.float32)
    loss, y = objective.critic_loss(objective.init(rng()), critics, batch, jnp.asarray(cumulant))
    expected = cumulant + reduced(psi, 0)
    assert_close(y, expected)
    scale = 0.5 if config.kind == "opolo" else 1.0  # its other term is zero here
    assert float(loss) == pytest.approx(scale * 2 * np.square(expected).mean(), rel=1e-5)
