"""Where a part of the state is matched, the rest of the demonstrations' states means nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import SPEC, context, random_batch, random_demos, rng, small_sfm

from sfm.agents.agent import make_agent
from sfm.agents.types import Spec
from sfm.config import (
    BCOConfig,
    Config,
    CostConfig,
    DiscriminatorConfig,
    InverseConfig,
    OPOLOConfig,
    TD3Config,
)

SEEN = (0, 2)
COST, INVERSE = CostConfig(width=8), InverseConfig(width=8)
OBJECTIVES = {
    "sfm": small_sfm("fdm", match_from="visits", state_weight=2.0, centre=True),
    "sfm-start": small_sfm("ae+idm", tail="truncate"),
    "hr": small_sfm("hr", match_from="visits", witness_batch="independent"),
    "fourier": small_sfm("fourier", match_from="visits", state_weight=1.0),
    "adversarial": small_sfm("adversarial", match_from="visits", refresh_batch=16),
    "mm": DiscriminatorConfig(cost=COST, refresh_batch=16),
    "gaifo": DiscriminatorConfig(sees="pair", cost=COST, refresh_batch=16),
    "opolo": OPOLOConfig(cost=COST, inverse=INVERSE, cost_interval=1, inverse_interval=1),
    "bco": BCOConfig(inverse=INVERSE),
}


def after_an_update(name: str, normalise: str, *several):
    """State and metrics after an update by each of several demonstrations."""
    learner = TD3Config(width=8, actor_delay=1)
    config = Config(learner=learner, objective=OBJECTIVES[name], normalise=normalise)  # pyright: ignore
    agent = make_agent(config, SPEC.obs_dim, SPEC.action_dim, matched=SEEN)

    @jax.jit
    def run(state, demos):
        metrics = {}
        if agent.objective.fresh:
            obs, length = random_demos((6, 6)).obs, jnp.array([6, 6])
            state, metrics = agent.refresh(state, obs, length, demos, jax.random.key(2))
        return metrics, agent.update(state, context(random_batch(), demos=demos))

    return [jax.tree.leaves(run(agent.init(rng()), demos)) for demos in several]


@pytest.mark.parametrize(
    ("name", "normalise"),
    [(name, "all") for name in OBJECTIVES if name != "sfm"] + [("sfm", "features")],
)
def test_what_is_not_matched_never_enters_and_what_is_matched_does(name, normalise):
    demos = random_demos()
    blank = demos._replace(obs=demos.obs.at[..., 1].set(-50.0).at[..., 3].set(7.0))
    other = demos._replace(obs=demos.obs.at[..., 2].add(1.0))
    ours, same, moved = after_an_update(name, normalise, demos, blank, other)
    for a, b in zip(ours, same, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.isfinite(a).all()
    assert any(not np.array_equal(a, b) for a, b in zip(ours, moved, strict=True))


def test_features_are_of_what_is_matched_and_the_policy_sees_all():
    config = Config(objective=OBJECTIVES["sfm"], learner=TD3Config(width=8))
    agent = make_agent(config, SPEC.obs_dim, SPEC.action_dim, matched=SEEN)
    state, obs = agent.init(rng()), random_batch().obs
    unseen = obs.at[:, 1].add(1.0)
    phi = agent.objective.phi  # pyright: ignore[reportAttributeAccessIssue]
    np.testing.assert_array_equal(phi(state.objective, obs), phi(state.objective, unseen))
    acted = [agent.policy(state)(x, None) for x in (obs, unseen)]
    assert not np.allclose(*acted)
    assert agent.objective.dim == 3 + len(SEEN)


def test_a_spec_knows_its_parts():
    spec = Spec(obs_dim=4, action_dim=1, gamma=0.9, matched=(1, 3))
    assert spec.part(np.arange(4)).tolist() == [1, 3]
    assert spec.hidden.tolist() == [0, 2]
    whole = spec._replace(matched=None)
    assert (whole.part(np.arange(4)).tolist(), whole.hidden.tolist()) == ([0, 1, 2, 3], [])
    assert (spec.matched_dim, whole.matched_dim) == (2, 4)
