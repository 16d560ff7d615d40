"""Plain RL as the smallest objective."""

import jax.numpy as jnp
import numpy as np
from helpers import SPEC, assert_close, context, random_batch

from sfm.agents.objectives import make_objective
from sfm.config import RewardConfig


def test_the_cumulant_is_the_reward_and_the_weight_is_one():
    reward, batch = make_objective(RewardConfig(), SPEC), random_batch()
    o, cumulant, metrics = reward.update((), context(batch))
    assert (o, metrics) == ((), {})
    assert_close(cumulant, np.asarray(batch.reward)[:, None])
    weight, _, metrics = reward.weight((), jnp.array([[1.0], [3.0]]), None, context(batch))  # pyright: ignore
    assert weight is not None
    assert weight.tolist() == [1.0]
    assert float(metrics["value"]) == 2.0


def test_the_score_is_the_return():
    reward = make_objective(RewardConfig(), SPEC)
    assert reward.score((), None, None, None, np.array([1.0, 2.0])).tolist() == [1.0, 2.0]  # pyright: ignore
    assert reward.penalty((), context()) is None
