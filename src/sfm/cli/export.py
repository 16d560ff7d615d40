"""`sfm export`: a policy as a file that others read."""

from pathlib import Path

from tyro.conf import Positional

from sfm.cli.parse import command


@command
def main(run: Positional[str], to: Path, seed: int | None = None, which: str = "kept") -> None:
    """Write a policy for programs without sfm: observations as they come in, actuators' own range out.

    Args:
        run: A run folder, a policy file, or the task of a bundled expert.
        to: The file to write: policy.onnx (extra `onnx`), or policy.npz, which NumPy alone reads.
        seed: Which seed's policy, in a run of several; default: the first.
        which: In a run, `kept` or `current`.
    """
    from sfm.export import export

    told = export(run, to, which=which, seed=seed)
    numbers = f"{len(told['observation_names'])} numbers in, {len(told['action_names'])} out"
    rate = f"{told['control_hz']:g} Hz, an action holds for {told['action_repeat']} of its steps"
    opset = f", opset {told['opset']}" if "opset" in told else ""
    print(f"{to}: {told['task']}, {numbers}, at {rate}{opset}")
