"""Wrong lines of replay, schedules, evaluation, and of what configures a run."""

LIKENESS, REPEAT = "training/likeness.py", "envs/repeat.py"
BUFFER, CLOCK = "training/buffer.py", "training/clock.py"
KEEPING, T_LIKENESS = "training/keeping.py", "tests/training/test_likeness.py"
T_REPEAT, T_BUFFER = "tests/envs/test_repeat.py", "tests/training/test_buffer.py"
T_CLOCK, T_KEEPING = "tests/training/test_clock.py", "tests/training/test_keeping.py"
T_ASSESS = "tests/training/test_assess.py"

TRAINING: dict[str, tuple[str, str, str, str]] = {
    "sfm-td3: gamma 0.99": (
        "presets.py",
        '"sfm-td3": _paper(TD3Config(), 0.995,',
        '"sfm-td3": _paper(TD3Config(), 0.99,',
        "tests/test_presets.py",
    ),
    "refresh: no exploration noise": (
        "training/experience.py",
        "return play(self.train_envs[0], starts, policy, noise)",
        "return play(self.train_envs[0], starts, policy)",
        "tests/training/test_experience.py",
    ),
    "config: updates ignore updates_per_step": (
        "config/run.py",
        "round(self.schedule.steps * self.schedule.updates_per_step)",
        "round(self.schedule.steps)",
        "tests/config",
    ),
    "average_share ignored": (
        KEEPING,
        "max(self.schedule.average_updates, self.schedule.average_share * p.updates)",
        "self.schedule.average_updates",
        T_KEEPING,
    ),
    "n-step: later cumulants not discounted": (
        BUFFER,
        "jnp.where(k < left[:, None], spec.gamma**k, 0.0)",
        "jnp.where(k < left[:, None], 1.0, 0.0)",
        T_BUFFER,
    ),
    "n-step: bootstraps from terminal states": (
        BUFFER,
        "jnp.where(ends, 0.0, spec.gamma**steps)",
        "spec.gamma**steps",
        T_BUFFER,
    ),
    "replay: recent window from the oldest": (
        BUFFER,
        "index = table.visits - 1 - jnp.clip(ago",
        "index = jnp.clip(ago",
        T_BUFFER,
    ),
    "replay: recent ones independent": (
        BUFFER,
        "(span + jax.random.uniform(k_index, (count,))) * windows / count",
        "jax.random.uniform(k_index, (count,))",
        T_BUFFER,
    ),
    "keeping: the least alike": (KEEPING, "math.nan) >= best:", "math.nan) <= best:", T_KEEPING),
    "likeness: states alone": (LIKENESS, "after[some] - obs[some]", "0 * obs[some]", T_LIKENESS),
    "likeness: expert again is perfect": (
        LIKENESS,
        "self._again = sum(apart) / max(len(apart), 1)",
        "self._again = 0.0",
        T_LIKENESS,
    ),
    "likeness: units matter": (
        LIKENESS,
        "self._scale = 1 / np.sqrt(np.maximum(second, 1e-12))",
        "self._scale = np.ones(len(second))",
        T_LIKENESS,
    ),
    "likeness: spread of the demonstration alone": (
        LIKENESS,
        "rows = [transitions(demos, self._part), transitions(random, self._part)]",
        "rows = [transitions(demos, self._part), transitions(demos, self._part)]",
        T_LIKENESS,
    ),
    "likeness: random actions by number of environments": (
        LIKENESS,
        "action = np.random.default_rng(0).uniform(-1, 1, shape)",
        "action = np.random.default_rng(len(envs)).uniform(-1, 1, shape)",
        T_LIKENESS,
    ),
    "repeat: reward of the last step": (REPEAT, "total += reward", "total = reward", T_REPEAT),
    "repeat: goes on behind the end": (
        REPEAT,
        "if terminated or truncated:",
        "if truncated:",
        T_REPEAT,
    ),
    "repeat: demonstrations not thinned": (
        "run.py",
        "return self.demos and self.demos.thinned(self.config.action_repeat)",
        "return self.demos",
        T_REPEAT,
    ),
    "repeat: decisions counted as steps": (
        "training/experience.py",
        "return int(episodes.length.sum()) * self.action_repeat",
        "return int(episodes.length.sum())",
        T_REPEAT,
    ),
    "repeat: a policy decides at every step": (
        "policy.py",
        "state[0] < self.action_repeat and not",
        "state[0] < 0 and not",
        T_REPEAT,
    ),
    "play: an action does not hold": (
        "training/rollout.py",
        "if t % hold == 0:",
        "if t % 1 == 0:",
        "tests/training/test_rollout.py",
    ),
    "evaluation: likeness of the other policy": (
        "training/evaluator.py",
        'told = (("current", now), ("kept", then))',
        'told = (("current", then), ("kept", now))',
        "tests/training/test_evaluator.py",
    ),
    "clock: random steps earn updates": (
        CLOCK,
        "waits = self.acts_at_random(p) or self.schedule.assesses",
        "waits = self.schedule.assesses",
        f"{T_CLOCK} tests/training/test_loop.py",
    ),
    "clock: patience ignored": (
        CLOCK,
        "p.steps < self.schedule.steps and p.assessment.steps < self.patience",
        "p.steps < self.schedule.steps",
        f"{T_CLOCK} tests/training/test_offline.py",
    ),
    "assess: not relaxed": (
        "training/assess.py",
        "bar = bar * config.assess_relax if bar < 0 else bar / config.assess_relax",
        "bar = bar / config.assess_relax",
        T_ASSESS,
    ),
    "assess: bar of the early phase for ever": (
        "training/assess.py",
        "settled = state.settled or (keep and not early)",
        "settled = state.settled",
        T_ASSESS,
    ),
    "agent: actor at every update": (
        "agents/agent.py",
        "due = step % self.actor_delay == 0",
        "due = step % 1 == 0",
        "tests/agents/test_agent.py tests/agents/learners/test_td3.py",
    ),
}
