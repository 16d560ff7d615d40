"""A table of your own: what a recorder wrote is examined, repaired and imitated.

python examples/own_csv.py steps=20000

The recorder is played by a demonstration of the package, with the joints' speeds in degrees per second.
"""

import sys

import numpy as np

import sfm
from sfm.config import setting
from sfm.demos.doctor import examine_file
from sfm.demos.repair import Repair

settings = dict(map(setting, sys.argv[1:]))

names = sfm.make_env("cheetah_walk").obs_names
states = sfm.load_demos("cheetah_walk").obs[0].copy()
states[:, 11:] = np.degrees(states[:, 11:])
times = np.arange(len(states)) / 100
header = ",".join(["time", *names])
np.savetxt("recorded.csv", np.column_stack([times, states]), delimiter=",", header=header, comments="")

print("what the doctor says:")
for finding in examine_file("recorded.csv", "cheetah_walk"):  # in the shell: sfm demos doctor FILE TASK
    print(f"  {finding.severity}: {finding.what}. {finding.advice}")

demos = sfm.load_demos("recorded.csv", Repair(degrees="11-16"))  # in the shell: sfm demos convert
result = sfm.train("cheetah_walk", demos, **settings)  # it asks the doctor, too
print(f"{result.folder}: return {result.returns[0]:.0f}")
