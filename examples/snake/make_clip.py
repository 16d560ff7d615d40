"""The snake's clip, by hand: a wave that runs down the body once a second, while the head goes forward.

    python examples/snake/make_clip.py > examples/snake/clip.csv

Four seconds of 50 frames. The speed and the swing of the head are a guess, as in any clip drawn by hand.
"""

from math import pi, sin

LINKS, SWING, LAG, SPEED = 4, 0.7, 1.0, 0.18  # radians, radians from link to link, metres per second

print("time", "x", "y", "turn", *(f"bend{k + 1}" for k in range(LINKS)), sep=",")
for frame in range(201):
    time = frame / 50
    wave = 2 * pi * time
    bends = [SWING * sin(wave - LAG * k) for k in range(LINKS)]
    row = time, SPEED * time, 0.0, -0.175 * sin(wave + 0.9), *bends
    print(*(f"{number:.5f}" for number in row), sep=",")
