"""`python -m sfm` is the command `sfm`."""

import sys

from sfm.cli import main

sys.exit(main())
