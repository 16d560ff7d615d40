"""Single wrong lines for `benchmarks/mutants.py`: name -> (file, line, wrong line, tests near it)."""

from benchmarks.mutant_list.learners import LEARNERS
from benchmarks.mutant_list.objectives import OBJECTIVES
from benchmarks.mutant_list.resets import RESETS
from benchmarks.mutant_list.training import TRAINING

MUTANTS = LEARNERS | OBJECTIVES | RESETS | TRAINING
