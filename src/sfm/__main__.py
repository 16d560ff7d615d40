"""`python -m sfm` is the command `sfm`."""

from sfm.cli import main

main()
