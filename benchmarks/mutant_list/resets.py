"""Wrong lines of what begins in demonstrated states, of landmarks, and of policies folded when loaded."""

BUFFER, EXPERIENCE, LOOP = "training/buffer.py", "training/experience.py", "training/loop.py"
ROLLOUT, MAPS, FOLDING = "training/rollout.py", "agents/objectives/maps.py", "folding.py"
T_BUFFER, T_EXPERIENCE = "tests/training/test_buffer.py", "tests/training/test_experience.py"
T_RESETS, T_ROLLOUT = "tests/training/test_resets.py", "tests/training/test_rollout.py"
T_MAPS, T_FOLDING = "tests/agents/objectives/test_maps.py", "tests/test_folding.py"

RESETS: dict[str, tuple[str, str, str, str]] = {
    "resets: counted as visits": (BUFFER, "visited is None or bool(i < visited)", "True", T_BUFFER),
    "resets: visited reversed": (
        BUFFER,
        "visited is None or bool(i < visited)",
        "visited is None or bool(i >= visited)",
        T_BUFFER,
    ),
    "resets: visits counted like all": (
        BUFFER,
        "first = table.visit if recent else table.first",
        "first = table.first",
        T_BUFFER,
    ),
    "resets: window of all transitions": (
        BUFFER,
        "index = table.visits - 1 -",
        "index = table.total - 1 -",
        T_BUFFER,
    ),
    "resets: forgotten in checkpoints": (BUFFER, "bool(t), bool(v)) for s", "bool(t), True) for s", T_RESETS),
    "resets: older parts forgotten": (
        BUFFER,
        "counted = np.where(visited, length, 0)",
        "counted = length",
        T_BUFFER,
    ),
    "resets: at the beginning alone": (
        ROLLOUT,
        "for i, start in self.elsewhere.items():",
        "for i, start in self.elsewhere.items() if begin == 0 else ():",
        T_ROLLOUT,
    ),
    "resets: those that ended wait": (
        ROLLOUT,
        "start(begin), True, False",
        "start(begin), self.running[i], False",
        T_ROLLOUT,
    ),
    "resets: the first environments": (
        EXPERIENCE,
        "enumerate(shown[self.visited :], self.visited)",
        "enumerate(shown[: -self.visited])",
        T_EXPERIENCE,
    ),
    "resets: one state for all parts": (
        EXPERIENCE,
        "self.motion.qpos[at[time]], self.motion.qvel[at[time]]",
        "self.motion.qpos[at[0]], self.motion.qvel[at[0]]",
        T_EXPERIENCE,
    ),
    "resets: velocities of another state": (
        EXPERIENCE,
        "self.motion.qvel[at[time]]",
        "self.motion.qvel[at[time] - 1]",
        T_EXPERIENCE,
    ),
    "resets: environments alike": (EXPERIENCE, "RESET, p.episodes + k)", "RESET, p.episodes)", T_EXPERIENCE),
    "resets: seeds alike": (
        EXPERIENCE,
        "draws(p.seed, RESET, p.episodes + k)",
        "draws(0, RESET, p.episodes + k)",
        T_EXPERIENCE,
    ),
    "resets: returns of all": (EXPERIENCE, "array[: self.visited] for array", "array for array", T_RESETS),
    "resets: a round as long as its last steps": (
        LOOP,
        "self.progress[i].steps - before[i]",
        "self.experience.steps(begun[i][0].episodes)",
        T_RESETS,
    ),
    "resets: witness of all": (
        "training/learn.py",
        "np.asarray(table.visits)",
        "np.asarray(table.total)",
        T_RESETS,
    ),
    "opolo: cost learns from the batch": (
        "agents/objectives/opolo.py",
        "recent, demos = context.recent,",
        "recent, demos = context.batch,",
        "tests/agents/objectives/test_opolo.py",
    ),
    "qpos of another model": (
        "envs/base.py",
        "values.shape[1] != size:",
        "values.shape[1] > size:",
        "tests/demos/test_matching.py",
    ),
    "landmarks: widths not in units": (
        MAPS,
        ".astype(np.float32) * distance)",
        ".astype(np.float32))",
        T_MAPS,
    ),
    "landmarks: one width": (
        MAPS,
        "np.resize(self.config.bandwidths, d).astype",
        "np.full(d, self.config.bandwidths[0]).astype",
        T_MAPS,
    ),
    "landmarks: distance of one from the mean": (
        MAPS,
        "jnp.sqrt(2 * ((at.var",
        "jnp.sqrt(1 * ((at.var",
        T_MAPS,
    ),
    "landmarks: no product": (MAPS, "- 2 * x @ e.T", "- x @ e.T", T_MAPS),
    "landmarks: not squared": (MAPS, "/ jnp.square(self.radius))", "/ self.radius)", T_MAPS),
    "landmarks: 1 at the landmark": (MAPS, "NEAR = 2.0", "NEAR = 1.0", T_MAPS),
    "landmarks: last states are none": (
        MAPS,
        "jnp.cumsum(demos.length + 1)",
        "jnp.cumsum(demos.length)",
        T_MAPS,
    ),
    "landmarks: of the episode before": (
        MAPS,
        'side="right")\n        at =',
        'side="left")\n        at =',
        T_MAPS,
    ),
    "landmarks: never placed": (MAPS, "f = self.placed(f, demos)", "f = f", T_MAPS),
    "landmarks: numbers count alike": (
        MAPS,
        "np.sqrt(_odds(self.config, self.spec))",
        "np.ones(self.spec.matched_dim)",
        T_MAPS,
    ),
    "landmarks: raw demonstrations": (
        "agents/objectives/sfm.py",
        "context.demos._replace(obs=self._seen(o, context.demos.obs))",
        "context.demos",
        T_MAPS,
    ),
    "folding: sign of scales": (FOLDING, "arrays[name] = sign * (", "arrays[name] = (", T_FOLDING),
    "folding: sign of shifts": (
        FOLDING,
        "low = -arrays[shift] / size",
        "low = arrays[shift] / size",
        T_FOLDING,
    ),
    "folding: shift not scaled": (FOLDING, "low = -arrays[shift] / size", "low = -arrays[shift]", T_FOLDING),
    "folding: mean stays": (
        FOLDING,
        "arrays[name] - arrays[name].mean(-1, keepdims=True)",
        "arrays[name]",
        T_FOLDING,
    ),
    "folding: bias keeps the shift": (FOLDING, "arrays[bias] - low @", "arrays[bias] + low @", T_FOLDING),
    "folding: clips at one spread": (
        FOLDING,
        "wide = LIMIT * arrays[spread]",
        "wide = arrays[spread]",
        T_FOLDING,
    ),
    "folding: one of two layers divides": (
        FOLDING,
        "for part in after[1:]]",
        "for part in after[1:2]]",
        T_FOLDING,
    ),
}
