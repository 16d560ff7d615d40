"""A policy in ONNX Runtime, without sfm: it needs onnxruntime, NumPy and, to move a body, dm_control.

sfm export walker_walk --to policy.onnx
pip install onnxruntime dm_control
python examples/onnx_policy.py policy.onnx walker walk
"""

import json
import sys

import numpy as np
import onnxruntime


class Policy:
    """obs -> action, as often as the environment steps: an action holds for as long as in training."""

    def __init__(self, path: str):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the network is small
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.meta = self.session.get_modelmeta().custom_metadata_map
        self.hold = int(self.meta["action_repeat"])
        self.reset()

    def reset(self) -> None:
        """An episode begins."""
        self.step, self.action = 0, np.zeros(0)

    def __call__(self, obs: np.ndarray) -> np.ndarray:
        if self.step % self.hold == 0:
            batch = np.asarray(obs, np.float32)[None]
            self.action = self.session.run(["action"], {"observation": batch})[0][0]
        self.step += 1
        return self.action


def main(path: str, domain: str, task: str) -> None:
    from dm_control import suite

    policy = Policy(path)
    meta = policy.meta
    print(f"{meta['task']} at {meta['control_hz']} Hz, commit {meta['commit'] or 'unknown'}")
    print("observes", ", ".join(json.loads(meta["observation_names"])[:4]), "...")
    env = suite.load(domain, task, task_kwargs={"random": 0})
    if abs(1 / env.control_timestep() - float(policy.meta["control_hz"])) > 1e-3:
        sys.exit("the environment has another control rate than the policy was trained at")
    now, total = env.reset(), 0.0
    while not now.last():
        obs = np.concatenate([np.ravel(part) for part in now.observation.values()])
        now = env.step(policy(obs))
        total += now.reward
    print(f"return {total:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
