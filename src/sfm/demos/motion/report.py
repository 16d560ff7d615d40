"""What is to be known of a demonstration that came from a clip."""

from typing import Any, NamedTuple

import numpy as np

from sfm.demos.motion import joints
from sfm.demos.motion.clip import Clip
from sfm.demos.motion.cycle import Period
from sfm.demos.motion.ground import touch

CONTACT = 0.01  # metres: what is nearer to the ground stands on it


class Report(NamedTuple):
    """Figures of a motion, in seconds and metres."""

    source: str
    seconds: float
    period: float | None  # of the cycle; None: taken as it is
    difference: float  # by how much of its variance the clip differs from itself a period later
    speed: float  # along the ground, from beginning to end
    beyond: dict[str, tuple[float, float]]  # by joint: how far beyond its limits, and how often
    penetration: float  # how deep the lowest point is in the ground at most
    height: float  # how high above it at most
    sliding: float  # mean speed of the lowest point along the ground while it is there
    still: list[str]  # joints that follow nothing

    @staticmethod
    def of(
        clip: Clip,
        model: Any,
        qpos: np.ndarray,
        step: float,
        period: Period | None,
        beyond: dict[str, tuple[float, float]],
        still: list[str],
    ) -> "Report":
        """Of states qpos [N, nq], `step` seconds apart."""
        touched, seconds = touch(model, qpos), (len(qpos) - 1) * step
        along = joints.root(model).along
        way = float(np.linalg.norm(qpos[-1, along] - qpos[0, along]))
        near = np.maximum(touched.height[:-1], touched.height[1:]) < CONTACT
        slid = np.linalg.norm(touched.slip[near], axis=1) / step
        return Report(
            clip.source,
            seconds,
            period and period.seconds,
            period.difference if period else 0.0,
            way / seconds,
            beyond,
            max(0.0, -float(touched.height.min())),
            max(0.0, float(touched.height.max())),
            float(slid.mean()) if len(slid) else 0.0,
            still,
        )

    def lines(self) -> list[str]:
        """As text."""
        cycle = "no cycle: the clip as it is"
        if self.period:
            cycle = f"a cycle of {self.period:.3f} s ({1 / self.period:.2f} Hz), looped"
            if self.difference:
                cycle += f"; one cycle differs from the next by {self.difference:.1%} of the variance"
        told = [
            f"{self.source}: {cycle}",
            f"{self.seconds:.2f} s at {self.speed:.2f} m/s; what touches the ground slides at "
            f"{self.sliding:.2f} m/s; {100 * self.penetration:.1f} cm in the ground at most, "
            f"{100 * self.height:.1f} cm above it at most",
        ]
        for joint, (most, share) in self.beyond.items():
            told.append(
                f"{joint}: up to {np.degrees(most):.1f} degrees beyond its limits, {share:.0%} of the time"
            )
        if self.still:
            told.append(f"these follow nothing in the clip: {', '.join(self.still)}")
        return told
