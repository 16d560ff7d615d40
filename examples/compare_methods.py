"""Two methods, with the same demonstration, steps and seeds, side by side.

python examples/compare_methods.py [STEPS]
"""

import sys

import sfm
from sfm.cli import main as command

steps = int(sys.argv[1]) if sys.argv[1:] else 400_000

for preset in ("general", "gaifo-general"):
    sfm.train("cheetah_walk", preset=preset, steps=steps, seeds=2, folder=f"runs/methods/{preset}")

# As in the shell: a table, and learning curves as PNG and SVG.
command(["compare", "runs/methods", "--by", "preset", "--out", "runs/methods/curves"])
