"""Demonstrations of a policy: which are kept, and what is told of them."""

import numpy as np
import pytest

from sfm.config import to_dict
from sfm.envs import make
from sfm.evaluation.collect import changed, collect
from sfm.policy import Policy, load_policy
from sfm.presets import preset

META = {"obs_dim": 1, "action_dim": 1, "seed": 0, "steps": 5, "updates": 4}


def test_the_best_episodes_are_kept_in_order_with_their_starts():
    env, policy = make("probe_point"), Policy(lambda obs, noise: np.zeros_like(obs), META)  # stays
    demos, made = collect(env, policy, 2, 6)
    starts = [env.reset(seed)[0] for seed in made["reset_seeds"]]
    np.testing.assert_array_equal(demos.obs[:, 0, 0], starts)
    assert demos.length.tolist() == [20, 20]
    np.testing.assert_allclose(made["returns"], [-20 * (x - 0.5) ** 2 for x in starts], atol=1e-3)
    assert made["episodes"] == sorted(made["episodes"])
    assert demos.qpos is demos.qvel is None  # a probe has no simulator
    assert min(made["returns"]) > made["all_returns_mean"] > made["all_returns_min"]


def test_what_a_policy_has_of_its_own_is_told():
    config = to_dict(preset("expert-td3", task="walker_run", seed=3, n_step=1))
    config["learner"]["width"] = 64
    meta = {"preset": "expert-td3", "config": config}
    assert changed(meta) == {"n_step": 1, "learner.width": 64}
    assert changed(META) == {}


@pytest.mark.parametrize(("task", "own"), [("walker_flip", {}), ("quadruped_walk", {"normalise": "all"})])
def test_settings_of_earlier_versions_are_told_in_words_of_today(task, own):
    assert {k: v for k, v in changed(load_policy(task).meta).items() if k == "normalise"} == own


def test_where_there_is_a_simulator_its_states_are_kept_beside():
    env = make("cheetah_run")
    env.max_steps = 12
    meta = {"obs_dim": 17, "action_dim": 6, "seed": 0, "steps": 5, "updates": 4, "action_repeat": 2}
    policy = Policy(lambda obs, noise: np.cos(3 * obs[:, :6]), meta)
    demos, made = collect(env, policy, 2, 3)
    assert demos.qpos is not None
    assert demos.qvel is not None
    assert demos.qpos.shape == (2, 13, 9)
    for i, start in enumerate(made["reset_seeds"]):
        np.testing.assert_array_equal(env.reset(start), demos.obs[i, 0])
        for qpos, qvel, obs in zip(demos.qpos[i], demos.qvel[i], demos.obs[i], strict=True):
            np.testing.assert_allclose(env.observe(qpos, qvel), obs, atol=1e-5)
