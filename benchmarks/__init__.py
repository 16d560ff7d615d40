"""Each prints what it measured in one run; `make bench` runs those that tell how fast training is."""
