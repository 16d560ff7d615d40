"""A walker learns to walk from one demonstration of states; then watch it beside its expert.

python examples/train_and_watch.py steps=20000
"""

import sys

import sfm
from sfm.cli import main as command
from sfm.config import setting

settings = dict(map(setting, sys.argv[1:]))

result = sfm.train("walker_walk", **settings)  # the demonstration comes with the package
command(["eval", str(result.folder), "--episodes", "5"])  # as in the shell: sfm eval RUN

policy = sfm.load_policy(result.folder)  # later, and elsewhere
env = sfm.make_env("walker_walk")
action, _ = policy.predict(env.reset(0))
print("its first action:", dict(zip(env.action_names, action.round(2).tolist(), strict=True)))
print(f"look at {result.folder / 'video.mp4'}: at the left the policy, at the right the demonstration")
print(f"or watch it live in a browser, and push it: sfm watch {result.folder}")
