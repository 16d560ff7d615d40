"""Single wrong lines for `benchmarks/mutants.py`: name -> (file, line, wrong line, tests near it)."""

SFM, TD3, TD7 = "agents/objectives/sfm.py", "agents/learners/td3.py", "agents/learners/td7.py"
BASE, SOFT = "agents/learners/base.py", "agents/learners/stochastic.py"
OPOLO, IQ, GAIFO = (
    "agents/objectives/opolo.py",
    "agents/objectives/iq.py",
    "agents/objectives/discriminator.py",
)
FEATURES, COST = "agents/objectives/features.py", "agents/objectives/cost.py"
LIKENESS, REPEAT = "training/likeness.py", "envs/repeat.py"
BUFFER, CLOCK, KEEPING = "training/buffer.py", "training/clock.py", "training/keeping.py"
T_SFM = "tests/agents/objectives/test_sfm.py tests/agents/objectives/test_hooks.py tests/agents/test_agent.py"
T_TD3, T_TD7 = "tests/agents/learners/test_td3.py", "tests/agents/learners/test_td7.py"
T_BASE, T_SOFT = "tests/agents/learners/test_base.py", "tests/agents/learners/test_stochastic.py"
T_OPOLO, T_IQ = "tests/agents/objectives/test_opolo.py", "tests/agents/objectives/test_iq.py"
T_GAIFO = "tests/agents/objectives/test_discriminator.py tests/agents/objectives/test_hooks.py"
T_FEATURES, T_COST = "tests/agents/objectives/test_features.py", "tests/agents/objectives/test_cost.py"
T_LIKENESS, T_REPEAT = "tests/training/test_likeness.py", "tests/envs/test_repeat.py"
T_BUFFER, T_CLOCK = "tests/training/test_buffer.py", "tests/training/test_clock.py"
T_KEEPING, T_ASSESS = "tests/training/test_keeping.py", "tests/training/test_assess.py"

MUTANTS: dict[str, tuple[str, str, str, str]] = {
    # those that once survived
    "sfm: min of the twins": (SFM, 'twins = "mean"', 'twins = "min"', T_SFM),
    "gaifo: agent's pairs reversed": (
        GAIFO,
        "agent = self._seen(*draw_pairs(k_agent, obs, length, c.refresh_batch))",
        "agent = self._seen(*draw_pairs(k_agent, obs, length, c.refresh_batch)[::-1])",
        T_GAIFO,
    ),
    "td7: no target noise": (
        TD7,
        "action = action + base.smoothing_noise(key, action, c.target_noise, c.target_noise_clip)",
        "action = action + 0 * base.smoothing_noise(key, action, c.target_noise, c.target_noise_clip)",
        T_TD7,
    ),
    "td7: actor on the encoder in training": (
        TD7,
        "zs = s.fixed.state(batch.obs)",
        "zs = s.encoder.net.state(batch.obs)",
        T_TD7,
    ),
    "td7: critic on the encoder in training": (
        TD7,
        "psi = lambda net: functools.partial(_psi, net, s.fixed)",
        "psi = lambda net: functools.partial(_psi, net, s.encoder.net)",
        T_TD7,
    ),
    "td7: acting on the encoder in training": (
        TD7,
        "return EmbeddedPolicy(s.actor.net, s.fixed.state, self.config.explore_noise)",
        "return EmbeddedPolicy(s.actor.net, s.encoder.net.state, self.config.explore_noise)",
        T_TD7,
    ),
    "td7: encoder without stop-gradient": (
        TD7,
        "jnp.square(zsa - jax.lax.stop_gradient(encoder.state(batch.next_obs)))",
        "jnp.square(zsa - encoder.state(batch.next_obs))",
        T_TD7,
    ),
    "discriminator: mean of the twins": (
        "agents/objectives/base.py",
        'twins: str = "min"',
        'twins: str = "mean"',
        T_GAIFO,
    ),
    "witness: minibatch not independent": (
        SFM,
        "source = context.recent if self.uses_recent else context.batch",
        "source = context.batch",
        T_SFM,
    ),
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
    # losses
    "td: no stop-gradient": (
        BASE,
        "y = jax.lax.stop_gradient(cumulant + critics.bootstrap(twins))",
        "y = cumulant + critics.bootstrap(twins)",
        f"{T_BASE} {T_TD3}",
    ),
    "td: sum over dimensions": (
        BASE,
        "jnp.square(error).mean((1, 2)).sum()",
        "jnp.square(error).mean(1).sum()",
        T_BASE,
    ),
    "td: mean over twins": (
        BASE,
        "jnp.square(error).mean((1, 2)).sum()",
        "jnp.square(error).mean((1, 2)).mean()",
        f"{T_BASE} {T_TD3}",
    ),
    "td: error along the witness not squared": (
        BASE,
        "jnp.square(error @ along).mean(1).sum()",
        "jnp.abs(error @ along).mean(1).sum()",
        f"{T_BASE} {T_SFM}",
    ),
    "actor: descends": (
        BASE,
        "-((psi @ weight).mean() + bonus)",
        "(psi @ weight).mean() - bonus",
        f"{T_BASE} {T_TD3}",
    ),
    "actor: bonus with the wrong sign": (
        BASE,
        "-((psi @ weight).mean() + bonus)",
        "-((psi @ weight).mean() - bonus)",
        f"{T_BASE} {T_SOFT}",
    ),
    "pretanh: not squared": (BASE, "jnp.square(before).mean()", "before.mean()", f"{T_BASE} {T_TD3}"),
    "smoothing noise: not clipped": (
        BASE,
        "jnp.clip(scale * jax.random.normal(key, like.shape), -clip, clip)",
        "scale * jax.random.normal(key, like.shape)",
        f"{T_BASE} {T_TD3}",
    ),
    "td3: target noise leaves the bounds": (
        TD3,
        "target(obs, action.clip(-1, 1))",
        "target(obs, action)",
        T_TD3,
    ),
    "td3: online critic in the target": (
        TD3,
        "target = twins_of(s.target_critic)",
        "target = twins_of(s.critic.net)",
        T_TD3,
    ),
    "td3: target critic for the actor": (
        TD3,
        "twin_value(s.critic.net, self.config.actor_twin",
        "twin_value(s.target_critic, self.config.actor_twin",
        T_TD3,
    ),
    "td7: targets not clipped": (
        TD7,
        "discount * jnp.clip(psi, s.clip.low, s.clip.high)",
        "discount * psi",
        T_TD7,
    ),
    "td7: bounds forget": (
        TD7,
        "Bounds(jnp.minimum(s.seen.low, y.min()), jnp.maximum(s.seen.high, y.max()))",
        "Bounds(y.min(), y.max())",
        T_TD7,
    ),
    "td7: target encoder skips a generation": (
        TD7,
        "target_encoder=s.fixed,",
        "target_encoder=s.encoder.net,",
        T_TD7,
    ),
    "stochastic: entropy lowered": (
        SOFT,
        "entropy = -log_prob.mean()",
        "entropy = log_prob.mean()",
        f"{T_SOFT} {T_BASE}",
    ),
    "stochastic: density without its spread": (
        SOFT,
        "(-0.5 * noise**2 - log_std - 0.5",
        "(-0.5 * noise**2 - 0.5",
        T_SOFT,
    ),
    "stochastic: the same draw for both actions": (
        SOFT,
        "action, log_prob = self.sample(s.actor.net, obs, k_pi)",
        "action, log_prob = self.sample(s.actor.net, obs, k_next)",
        T_SOFT,
    ),
    "opolo: pull of half the size": (
        OPOLO,
        "2 * config.alpha * (1 - spec.gamma)",
        "config.alpha * (1 - spec.gamma)",
        T_OPOLO,
    ),
    "opolo: reward of the other sign": (
        OPOLO,
        "jax.nn.softplus(-cost).clip(max=MAX_REWARD)",
        "jax.nn.softplus(cost).clip(max=MAX_REWARD)",
        T_OPOLO,
    ),
    "iq: chi-square of half the size": (IQ, "/ (4 * c.chi)", "/ (2 * c.chi)", T_IQ),
    "iq: terminal states are valued": (
        IQ,
        "y = gamma * batch.mask * following",
        "y = gamma * following",
        T_IQ,
    ),
    "cost: expert and agent exchanged": (
        COST,
        "return expert.mean() - agent.mean()",
        "return agent.mean() - expert.mean()",
        T_COST,
    ),
    "cost: penalty on the squared norm": (
        COST,
        "jnp.square(jnp.sqrt(jnp.square(grads).sum(-1) + 1e-12) - norm).mean()",
        "jnp.square(jnp.square(grads).sum(-1) - norm).mean()",
        T_COST,
    ),
    "fdm: predicts the state itself": (
        FEATURES,
        "lambda p, b: [b.action], lambda c, s: s.action_dim, lambda b: b.next_obs,",
        "lambda p, b: [b.action], lambda c, s: s.action_dim, lambda b: b.obs,",
        T_FEATURES,
    ),
    "hilbert: expectile reversed": (
        FEATURES,
        "jnp.where(advantage >= 0, c.hr_expectile, 1 - c.hr_expectile)",
        "jnp.where(advantage >= 0, 1 - c.hr_expectile, c.hr_expectile)",
        T_FEATURES,
    ),
    # estimators
    "telescoping: terminal states are valued": (
        SFM,
        "(psi - gamma * mask[:, None] * psi_next).mean(0) / (1 - gamma)",
        "(psi - gamma * psi_next).mean(0) / (1 - gamma)",
        T_SFM,
    ),
    "telescoping: not scaled": (
        SFM,
        "(psi - gamma * mask[:, None] * psi_next).mean(0) / (1 - gamma)",
        "(psi - gamma * mask[:, None] * psi_next).mean(0)",
        T_SFM,
    ),
    "witness: reversed": (
        SFM,
        "witness = expert.mean - policy.mean",
        "witness = policy.mean - expert.mean",
        T_SFM,
    ),
    "witness: flow without debiasing": (
        SFM,
        "witness + (1 - c.ema) / policy.weight * (expert.mean - policy_now)",
        "witness + (1 - c.ema) * (expert.mean - policy_now)",
        T_SFM,
    ),
    "witness: always the target's bootstrap": (
        SFM,
        'target=c.bootstrap == "target")',
        "target=True)",
        T_SFM,
    ),
    "expert: recomputed a turn late": (
        SFM,
        "due = (context.step - 1) % self.config.expert_interval == 0",
        "due = context.step % self.config.expert_interval == 0",
        T_SFM,
    ),
    "expert: without its tail": (
        SFM,
        "return (summed + after_weight * after).mean(0)",
        "return summed.mean(0)",
        T_SFM,
    ),
    "alive: counts ends once": (
        SFM,
        "return 1 / (1 + ends / (1 - self.spec.gamma))",
        "return 1 / (1 + ends)",
        T_SFM,
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
        "index = jax.random.randint(k_index, (count,), oldest, table.total)",
        "index = jax.random.randint(k_index, (count,), 0, table.total - oldest)",
        T_BUFFER,
    ),
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
        "rows = [transitions(demos), transitions(random)]",
        "rows = [transitions(demos), transitions(demos)]",
        T_LIKENESS,
    ),
    "likeness: random actions by number of environments": (
        LIKENESS,
        "shape = envs[0].max_steps, RANDOM_EPISODES, envs[0].action_dim",
        "shape = envs[0].max_steps + len(envs), RANDOM_EPISODES, envs[0].action_dim",
        T_LIKENESS,
    ),
    # schedules
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
        "tests/training/test_rollout.py tests/evaluation",
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
    "learner: the actor's rate does not fall": (
        BASE,
        "falls = c.lr_actor_final is not None",
        "falls = False",
        "tests/agents/learners tests/agents/test_optim.py",
    ),
}
