"""Two methods, with the same demonstration, steps and seeds, side by side.

python examples/compare_methods.py steps=20000
"""

import sys

import sfm
from sfm.cli import main as command
from sfm.config import setting

settings = dict(map(setting, sys.argv[1:]))

for preset in ("general", "gaifo-general"):
    sfm.train("cheetah_walk", preset=preset, **settings, seeds=2, folder=f"runs/methods/{preset}")

# As in the shell: a table, and learning curves as PNG and SVG.
command(["compare", "runs/methods", "--by", "preset", "--out", "runs/methods/curves"])
