"""Wrong lines of objectives, features and estimators."""

SFM, OPOLO = "agents/objectives/sfm.py", "agents/objectives/opolo.py"
IQ, GAIFO = "agents/objectives/iq.py", "agents/objectives/discriminator.py"
FEATURES, COST = "agents/objectives/features.py", "agents/objectives/cost.py"
T_SFM = (
    "tests/agents/objectives/test_sfm.py tests/agents/objectives/test_sfm_features.py "
    "tests/agents/objectives/test_hooks.py tests/agents/test_agent.py"
)
T_OPOLO, T_IQ = "tests/agents/objectives/test_opolo.py", "tests/agents/objectives/test_iq.py"
T_GAIFO = "tests/agents/objectives/test_discriminator.py tests/agents/objectives/test_hooks.py"
T_FEATURES, T_COST = "tests/agents/objectives/test_features.py", "tests/agents/objectives/test_cost.py"

OBJECTIVES: dict[str, tuple[str, str, str, str]] = {
    "sfm: min of the twins": (SFM, 'twins = "mean"', 'twins = "min"', T_SFM),
    "gaifo: agent's pairs reversed": (
        GAIFO,
        "agent = self._seen(*draw_pairs(k_agent, obs, length, c.refresh_batch))",
        "agent = self._seen(*draw_pairs(k_agent, obs, length, c.refresh_batch)[::-1])",
        T_GAIFO,
    ),
    "discriminator: mean of the twins": (
        "agents/objectives/base.py",
        'twins: str = "min"',
        'twins: str = "mean"',
        T_GAIFO,
    ),
    "witness: both halves from the long window": (
        SFM,
        "np.stack([window, np.minimum(window, c.witness_newest)], -1)",
        "np.stack([window, window], -1)",
        T_SFM,
    ),
    "witness: the minibatch does not alternate": (
        "training/buffer.py",
        "jnp.resize(table.recent, (count,)), ",
        "jnp.repeat(table.recent, count // windows), ",
        "tests/training/test_buffer.py",
    ),
    "witness: half of every window is never seen": (
        "training/buffer.py",
        "jnp.arange(count) // windows",
        "jnp.arange(count) / windows",
        "tests/training/test_buffer.py",
    ),
    "witness: minibatch not independent": (
        SFM,
        "source = context.recent if self.uses_recent else context.batch",
        "source = context.batch",
        T_SFM,
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
}
