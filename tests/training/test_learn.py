"""Updates: the program they are, how long a run of them is, and what is said when they go wrong."""

import dataclasses

import pytest

from sfm.agents.types import Spec
from sfm.config import TD3Config
from sfm.presets import PRESETS
from sfm.training.learn import Diverged, recipe
from tests.conftest import TINY, point, tiny

SPEC = Spec(obs_dim=2, action_dim=1, gamma=0.9)


def test_the_recipe_of_a_program_is_the_same_in_every_process():
    recipes = [recipe(config, SPEC) for config in set(PRESETS.values())]
    assert not any(" at 0x" in text for text in recipes)
    assert len(set(recipes)) == len(recipes)
    assert recipe(tiny(seed=1), SPEC) == recipe(tiny(seed=2, steps=500), SPEC)
    assert recipe(tiny(), SPEC) != recipe(tiny(), SPEC._replace(matched=(0,)))


@pytest.mark.parametrize(("per_step", "updates"), [(1.0, 160), (0.25, 40), (6.25, 1000)])
def test_a_rate_that_falls_does_so_over_all_updates_that_the_steps_earn(per_step, updates):
    falls = dataclasses.replace(TINY.learner, lr_actor_final=1e-5)
    config = tiny(learner=falls, updates_per_step=per_step)
    assert config.updates == updates
    assert recipe(config, SPEC) == recipe(tiny(learner=falls, steps=updates), SPEC)
    assert recipe(config, SPEC) != recipe(tiny(learner=falls, steps=updates + 1), SPEC)


def test_divergence_is_named():
    with pytest.raises(Diverged, match=r"training diverged: .*critic_loss.* at step 80 of seed 7"):
        list(point(learner=TD3Config(width=16, lr_critic=1e30), seed=7).rounds())


def test_weights_that_run_away_are_named_before_they_act_or_are_saved():
    """The last update of a burst spoils the actor after all losses were computed."""
    learner = TD3Config(width=16, lr_actor=1e30, actor_delay=10)
    training = point(learner=learner, chunk=10, batch=16, updates_per_step=0.25)
    with pytest.raises(Diverged, match="the actor's weights ran away at step 80 of seed 0"):
        list(training.rounds())
