"""Wrong lines of learners."""

TD3, TD7 = "agents/learners/td3.py", "agents/learners/td7.py"
BASE, SOFT = "agents/learners/base.py", "agents/learners/stochastic.py"
T_SFM = (
    "tests/agents/objectives/test_sfm.py tests/agents/objectives/test_sfm_features.py "
    "tests/agents/objectives/test_hooks.py tests/agents/test_agent.py"
)
T_TD3, T_TD7 = "tests/agents/learners/test_td3.py", "tests/agents/learners/test_td7.py"
T_BASE, T_SOFT = "tests/agents/learners/test_base.py", "tests/agents/learners/test_stochastic.py"

LEARNERS: dict[str, tuple[str, str, str, str]] = {
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
    "learner: the actor's rate does not fall": (
        BASE,
        "falls = c.lr_actor_final is not None",
        "falls = False",
        "tests/agents/learners tests/agents/test_optim.py",
    ),
}
