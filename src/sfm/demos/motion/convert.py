"""The road from a clip to a demonstration, step by step."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from sfm.demos.matching import told
from sfm.demos.motion import cycle, joints, mapping, placing, retarget
from sfm.demos.motion.clip import Clip
from sfm.demos.motion.placing import Forward, Ground
from sfm.demos.motion.readers import read
from sfm.demos.motion.report import Report
from sfm.demos.types import Demos
from sfm.envs import Env, make
from sfm.envs.base import MujocoEnv, as_mujoco
from sfm.errors import SfmError, unknown

FINE = 4  # states in between for each step of the environment: feet touch and leave between steps


class Motion(NamedTuple):
    """A demonstration, what is to be known of it, and what each joint followed."""

    demos: Demos
    report: Report
    mapping: dict[str, str]


def from_motion(
    clip: str | Path | Clip,
    model: str | Env,
    mapping: str | Path | dict[str, Any] | None = None,
    *,
    units: str | None = None,
    fps: float | None = None,
    period: float | str = "auto",
    ground: Ground | None = None,
    forward: Forward | None = None,
    seconds: float | None = None,
    limits: Literal["clip", "keep"] = "clip",
) -> Motion:
    """A demonstration for an environment from a clip of positions; no actions, no reward.

    clip: csv, npz, OpenSim's .mot or .sto, DeepMimic's text, Isaac Lab's npz, or a `Clip`.
    model: a task of dm_control, an MJCF file, or an environment that shows its simulation.
    mapping: what each joint follows, as a TOML file or a dict; None: joints of the same name.
    units: of the clip's angles, "degrees" or "radians"; None: as the file says, or by their size.
    period: of the cycle in seconds, "auto" to look for one, "none" to take the clip as it is.
    ground: "each": the lowest point of every frame is on the ground; "once": of the clip; "keep": as it is.
    forward: "contact": what touches the ground does not slide; "given": the clip's own root.
    seconds: of the demonstration; None: an episode, or the clip where it has no cycle.
    limits: "clip" to the joints' limits, or "keep".
    """
    _check_choices(units=units, ground=ground, forward=forward, limits=limits)
    found = read(clip, fps) if isinstance(clip, (str, Path)) else clip
    env = _shown(model)
    try:
        return _converted(found, env, mapping, units, period, ground, forward, seconds, limits)
    finally:
        if env is not model:
            env.close()


def propose(clip: str | Path | Clip, model: str | Env, fps: float | None = None) -> str:
    """A mapping by similar names, as TOML."""
    found, env = read(clip, fps) if isinstance(clip, (str, Path)) else clip, _shown(model)
    names = joints.limbs(env.model)
    text = mapping.as_toml(mapping.proposed(found, names), found, names)
    if ours := mapping.bundled_for(found, joints.names(env.model)):
        text += f"# The bundled mapping {ours} fits this clip and this model: --mapping {ours}\n"
    return text


def _converted(clip, env, given, units, period, on_ground, forward, seconds, limits) -> Motion:
    model = env.model
    entries = _entries(clip, model, given)
    degrees = None if units is None else units == "degrees"
    qpos, still = retarget.posed(clip, entries, model, degrees)
    root = joints.root(model)
    own = _own_root(model, entries)  # which columns of the root the clip says itself
    drifting = np.isin(np.arange(model.nq), root.along)

    found = _period(clip, qpos[:, ~drifting], period)
    step = env.control_timestep
    duration = (clip.frames - 1) * clip.frame_time
    if found is None:
        seconds = min(duration, seconds or duration)
    steps = round((seconds or env.max_steps * step) / step - (0 if found else 0.5 - 1e-6))
    if steps < 1:
        raise SfmError(f"{clip.source} lasts {duration:.2g} s, less than a step of '{env.name}' ({step:g} s)")
    fine = step / FINE
    times = np.arange(steps * FINE + 1) * fine
    if found:
        qpos = cycle.looped(qpos, clip.frame_time, found.seconds, times, drifting)
    else:
        qpos = cycle.sampled(qpos, clip.frame_time, times)
    placing.normalise(qpos, model)
    within, beyond = retarget.limited(qpos, model)
    qpos = within if limits == "clip" else qpos
    how = on_ground or ("once" if root.z in own else "each")
    placing.raise_or_lower(qpos, model, root, how, clip.source)
    placing.advance(qpos, model, root, fine, forward or ("given" if root.x in own else "contact"))

    qvel = placing.velocities(qpos, model, fine, FINE // 2)
    report = Report.of(clip, model, qpos, fine, found, beyond, still)
    qpos, qvel = qpos[::FINE], qvel[::FINE]
    obs = np.array([env.observe(*state) for state in zip(qpos, qvel, strict=True)])
    obs, names = told(env, obs)
    demos = Demos.from_list([obs], None, clip.source, [qpos], [qvel])._replace(names=names)
    return Motion(demos, report, {joint: entry.expression for joint, entry in entries.items()})


def _shown(model: str | Env) -> MujocoEnv:
    env = make(model) if isinstance(model, str) else model
    shown = as_mujoco(env)
    if shown is None:
        raise SfmError(f"'{env.name}' does not show its simulation: give a dm_control task or an MJCF file")
    return shown


def _check_choices(**given: Any) -> None:
    known = {
        "units": (None, "degrees", "radians"),
        "ground": (None, "each", "once", "keep"),
        "forward": (None, "contact", "given"),
        "limits": ("clip", "keep"),
    }
    for name, value in given.items():
        if value not in known[name]:
            raise unknown(name, str(value), [choice for choice in known[name] if choice])


def _entries(clip: Clip, model: Any, given: Any) -> mapping.Mapping:
    """What each joint follows, checked; a free joint follows the clip's root unless told otherwise."""
    names = joints.names(model)
    if given is None:
        entries = mapping.by_name(clip, names)
        if not entries.keys() & set(joints.limbs(model)):
            ours = mapping.bundled_for(clip, names)
            hint = f"the bundled one fits: --mapping {ours}; or " if ours else ""
            raise SfmError(
                f"{clip.source} names no joint as '{names[-1]}' of the model: {hint}have a mapping written "
                "with --propose FILE, look at it, and give it with --mapping FILE"
            )
    else:
        entries = mapping.from_table(given) if isinstance(given, dict) else mapping.load(given)
    mapping.check(entries, clip, names)
    free = joints.free(model)
    return {free: mapping.Entry("root"), **entries} if clip.root is not None and free else entries


def _own_root(model: Any, entries: mapping.Mapping) -> set[int]:
    """Columns of qpos that entries of the mapping decide."""
    own: set[int] = set()
    for name in entries:
        joint = joints.find(model, name)
        at = int(joint.qposadr[0])
        own |= set(range(at, at + (3 if joint.type[0] == joints.FREE else 1)))
    return own


def _period(clip: Clip, signals: np.ndarray, asked: float | str) -> cycle.Period | None:
    if asked == "none":
        return None
    duration = (clip.frames - 1) * clip.frame_time
    if asked == "auto":
        if clip.wraps:
            return cycle.Period(duration, 0.0)
        found = cycle.period(signals, clip.frame_time)
        return found if found and found.difference < cycle.ALIKE else None
    try:
        seconds = float(asked)
    except ValueError as error:
        raise SfmError(f"--period must be auto, none or seconds, not '{asked}'") from error
    if not 4 * clip.frame_time <= seconds <= duration + clip.frame_time:
        raise SfmError(f"a period of {seconds:g} s does not fit a clip of {duration:.3g} s")
    return cycle.Period(seconds, 0.0)
