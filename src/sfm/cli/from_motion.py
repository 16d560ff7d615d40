"""`sfm demos from-motion`: a demonstration from a recorded motion."""

from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from sfm.cli.environment import MADE, Made
from sfm.errors import SfmError


def from_motion(
    clip: Positional[Path],
    model: Positional[str],
    out: Path | None = None,
    mapping: Path | None = None,
    propose: Path | None = None,
    units: Literal["degrees", "radians"] | None = None,
    fps: float | None = None,
    period: str = "auto",
    ground: Literal["each", "once", "keep"] | None = None,
    forward: Literal["contact", "given"] | None = None,
    limits: Literal["clip", "keep"] = "clip",
    seconds: float | None = None,
    made: Made = MADE,
    video: Path | None = None,
    force: bool = False,
) -> None:
    """A demonstration from a clip of positions: no actions, no reward, no code.

    Args:
        clip: csv, npz, OpenSim's .mot or .sto, DeepMimic's text, or Isaac Lab's npz; or a bundled clip.
        model: A task of dm_control or an MJCF file.
        out: The .npz file to write.
        mapping: What each joint of the model follows, in TOML; default: what has the joint's own name.
        propose: Write a mapping by similar names to this file, to be looked at, and end.
        units: Of the clip's angles; default: as the file says, or by their size.
        fps: Frames per second, where the file does not say.
        period: Of the cycle in seconds; auto looks for one, none takes the clip as it is.
        ground: Put the lowest point on the ground in each frame, or once; or keep the height that is given.
        forward: No slip at the point of contact, or the root as it is given. Both default to what is given.
        limits: Clip to the joints' limits, or keep what is beyond.
        seconds: How long the demonstration is to be; default: an episode, or the clip if it has no cycle.
        made: The environment, as it will be trained in.
        video: Write an mp4 of it (needs OpenGL).
        force: Overwrite a file that exists.
    """
    if (out is None) == (propose is None):
        raise SfmError("give --out FILE for the demonstration, or --propose FILE for a mapping to begin with")
    from sfm import storage
    from sfm.demos import motion
    from sfm.demos.files import check_new
    from sfm.demos.formats import npz_files as npz

    for path in (out, propose, video):
        if path is not None:
            check_new(path, force)
    env = made.env(model)
    if propose is not None:
        text = motion.propose(clip, env, fps)
        storage.write_bytes(propose, text.encode())
        print(f"{text}\nwrote {propose}: look at it, then give it with --mapping {propose}")
        return
    assert out is not None
    choices = {"units": units, "fps": fps, "period": period, "ground": ground, "forward": forward}
    found = motion.from_motion(clip, env, mapping, **choices, limits=limits, seconds=seconds)  # pyright: ignore[reportArgumentType]
    provenance = {"task": model, **found.report._asdict(), "source": clip.name, "mapping": found.mapping}
    npz.save(out, found.demos, provenance=storage.to_json(provenance))
    print(*found.report.lines(), f"wrote {out}: {len(found.demos.obs[0])} states", sep="\n")
    if video is not None:
        from sfm.evaluation.video import replay

        replay(env, found.demos, video)
        print(f"video {video}")
    env.close()
