"""What a policy does, as a short list of steps on named arrays; NumPy carries them out, without JAX.

A step is an operation, then the names of its arrays: `["linear", "actor/layers/0/weight", ...]`. Each takes
what the one before it gave; `join` gives its input to several lists and joins their outputs. The same list is
what `sfm.export` writes. It says again what `sfm.agents` says in JAX, and the tests hold them together.
"""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Arrays = Mapping[str, np.ndarray]
Steps = list[list[Any]]
Fold = Callable[[Steps, Arrays], tuple[Steps, Arrays]]

EPSILON = 1e-6  # of both normalisations
LIMIT = 10.0  # of standardised numbers
_ZERO, _LOW, _HIGH = (np.asarray(x, np.float32) for x in (0.0, -LIMIT, LIMIT))  # faster than Python's numbers


def steps_of(arrays: Arrays, kind: str) -> Steps:
    """What the policy of a learner of this kind does, up to its tanh."""
    inner = "policy/" if "mean" in arrays else ""
    begin: Steps = [["standardise", "mean", "spread"]] if inner else []
    if kind != "td7":
        return begin + _mlp(arrays, f"{inner}actor", "relu")
    own = [_linear(f"{inner}actor/stem"), ["mean_abs_one"]]
    embedding = [*_mlp(arrays, f"{inner}encoder/mlp", "elu"), ["mean_abs_one"]]
    return [*begin, ["join", own, embedding], *_mlp(arrays, f"{inner}actor/mlp", "elu")]


def _mlp(arrays: Arrays, name: str, activation: str) -> Steps:
    """Hidden layers, normed where there are arrays for it, and a linear output."""
    depth = sum(key.startswith(f"{name}/layers/") and key.endswith("/weight") for key in arrays)
    steps: Steps = []
    for i in range(depth):
        steps.append(_linear(f"{name}/layers/{i}"))
        if (norm := f"{name}/norms/{i}") + "/scale" in arrays:
            steps.append(["layer_norm", f"{norm}/scale", f"{norm}/shift"])
        steps.append([activation])
    return steps[:-1]


def _linear(name: str) -> list[Any]:
    return ["linear", f"{name}/weight", f"{name}/bias"]


def named(steps: Steps) -> set[str]:
    """The arrays that they use."""
    return {n for _, *args in steps for a in args for n in ([a] if isinstance(a, str) else named(a))}


class Actor:
    """(obs [..., o] float32, normal noise [..., a] to explore, or None) -> action [..., a] in [-1, 1]."""

    def __init__(self, arrays: Arrays, kind: str, form: Any, fold: Fold | None = None):
        """`form` has the numbers by which a learner of this kind explores.

        fold: makes of the steps faster ones; without it bits are those of the networks of `sfm.agents`.
        """
        self.arrays, self.form = arrays, form
        self.steps, self.stochastic = steps_of(arrays, kind), kind == "stochastic"
        self._run = bound(*fold(self.steps, arrays) if fold else (self.steps, arrays))

    def __call__(self, obs: np.ndarray, noise: np.ndarray | None = None) -> np.ndarray:
        out = obs
        for step in self._run:
            out = step(out)
        if self.stochastic:
            mean, raw = np.split(out, 2, axis=-1)
            if noise is None:
                return np.tanh(mean)
            low, high = self.form.log_std_min, self.form.log_std_max
            return np.tanh(mean + np.exp(low + 0.5 * (high - low) * (np.tanh(raw) + 1)) * noise)
        action = np.tanh(out)
        return action if noise is None else (action + self.form.explore_noise * noise).clip(-1, 1)


def bound(steps: Steps, arrays: Arrays) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Steps as functions that hold their arrays."""

    def value(arg: Any) -> Any:
        return arrays[arg] if isinstance(arg, str) else bound(arg, arrays)

    return [functools.partial(OPERATIONS[name], *map(value, args)) for name, *args in steps]


def _run_linear(weight, bias, x):
    x = np.dot(x, weight)
    x += bias
    return x


def _run_standardise(mean, spread, x):
    x = x - mean
    x /= spread
    return np.minimum(np.maximum(x, _LOW, out=x), _HIGH, out=x)


def _mean(x):
    """Over the last axis, which stays; what `x.mean` does, in half the time."""
    return np.add.reduce(x, -1, None, None, True) / x.shape[-1]  # pyright: ignore


@functools.cache
def _ones(size):
    return np.ones(size, np.float32)


def _run_layer_norm(scale, shift, x):
    if x.ndim == 1:  # for one observation products are quicker than sums along an axis
        size = x.size
        x = x - float(x.dot(_ones(size))) / size
        x *= scale * (1 / math.sqrt(float(x.dot(x)) / size + EPSILON))
        x += shift
        return x
    x = x - _mean(x)
    x /= np.sqrt(_mean(x * x) + EPSILON)
    x *= scale
    x += shift
    return x


def _run_around(mean, low, high, x):
    x = x - mean
    return np.minimum(np.maximum(x, low, out=x), high, out=x)


def _run_size_one(x):
    """A layer norm of numbers whose mean is zero, without scale and shift."""
    if x.ndim == 1:
        x *= 1 / math.sqrt(float(x.dot(x)) / x.size + EPSILON)
    else:
        x /= np.sqrt(_mean(x * x) + EPSILON)
    return x


def _run_join(*parts_and_x):
    *parts, x = parts_and_x
    return np.concatenate([functools.reduce(lambda y, step: step(y), part, x) for part in parts], axis=-1)


OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "standardise": _run_standardise,
    "linear": _run_linear,
    "around": _run_around,
    "size_one": _run_size_one,
    "at_least": lambda low, x: np.maximum(x, low, out=x),
    "layer_norm": _run_layer_norm,
    "relu": lambda x: np.maximum(x, _ZERO, out=x),
    "elu": lambda x: np.maximum(x, _ZERO) + np.expm1(np.minimum(x, _ZERO)),
    "mean_abs_one": lambda x: x / np.maximum(_mean(np.abs(x)), EPSILON),
    "join": _run_join,
}
