"""The steps of `sfm.acting` in fewer operations: for one state, what NumPy is asked costs more than what it
computes. What can be known before the state is done once, on the arrays.

- Standardising divides and then clips. Here the difference from the mean is clipped (`around`), and the
  linear layer after it divides.
- A layer norm between a linear layer, a ReLU and a linear layer only makes numbers of size one (`size_one`).
  The mean that it takes away is a linear map, so the layer before it gives numbers of mean zero. Its scale
  passes through the ReLU, but for the sign, into the layer after it. So does its shift: the ReLU of x + shift
  is x, at least -shift (`at_least`), plus the shift.
"""

import numpy as np

from sfm.acting import LIMIT, Arrays, Steps

SMALLEST = 1e-3  # of a norm's scales over the greatest: to divide by less would lose digits


def folded(steps: Steps, arrays: Arrays) -> tuple[Steps, dict[str, np.ndarray]]:
    """Steps that do the same, and their arrays, some of them under new names."""
    if not steps:
        return steps, dict(arrays)
    found = {name: array.astype(np.float64) for name, array in arrays.items()}
    steps = _normed_less(_undivided(steps, found), found)
    kind = next(iter(arrays.values())).dtype
    return steps, {name: np.ascontiguousarray(array, kind) for name, array in found.items()}


def _undivided(steps: Steps, arrays: dict[str, np.ndarray]) -> Steps:
    """A policy standardises first, if at all; then comes a linear layer, or several side by side."""
    if steps[0][0] != "standardise":
        return steps
    (_, mean, spread), after = steps[:2]
    wide = LIMIT * arrays[spread]
    arrays |= {"around/low": -wide, "around/high": wide}
    for _, weight, _ in [part[0] for part in after[1:]] if after[0] == "join" else [after]:
        arrays[weight] = arrays[weight] / arrays[spread][:, None]
    return [["around", mean, "around/low", "around/high"], *steps[1:]]


def _normed_less(steps: Steps, arrays: dict[str, np.ndarray]) -> Steps:
    done = [list(step) for step in steps]
    for i in range(1, len(steps) - 2):
        if [step[0] for step in steps[i - 1 : i + 3]] != ["linear", "layer_norm", "relu", "linear"]:
            continue
        (_, *before), (_, scale, shift), _, (_, weight, bias) = steps[i - 1 : i + 3]
        size, sign = np.abs(arrays[scale]), np.sign(arrays[scale])
        if size.min() < SMALLEST * size.max() or not size.max():
            continue
        for name in before:
            arrays[name] = sign * (arrays[name] - arrays[name].mean(-1, keepdims=True))
        arrays[weight] = arrays[weight] * size[:, None]
        low = -arrays[shift] / size
        arrays[bias] = arrays[bias] - low @ arrays[weight]
        arrays[f"{shift}/low"] = low
        done[i : i + 2] = ["size_one"], ["at_least", f"{shift}/low"]
    return done
