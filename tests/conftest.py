"""Settings for all tests."""

import os

# The networks here are tiny: compiling takes longer than computing.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
