"""A policy as a file that others read: ONNX, or plain arrays in an .npz with all else as JSON.

Both take observations as the environment gives them and give actions as its actuators take them, without the
noise of training. What the policy does is the list of steps by which NumPy acts, see `sfm.acting`.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sfm import history, storage
from sfm.acting import EPSILON, LIMIT, Arrays, Steps
from sfm.envs.signals import action_names, obs_names
from sfm.envs.spaces import size
from sfm.errors import SfmError
from sfm.policy import Policy, find_policy, load_policy
from sfm.robots import remembered

OPSET = 17  # the first with LayerNormalization: what ONNX Runtime 1.12 of 2022 and later can read
IR_VERSION = 8  # of the file's form, of the same time
SUFFIXES = (".onnx", ".npz")


def export(
    what: str | Path, to: str | Path, *, which: str = "kept", seed: int | None = None
) -> dict[str, Any]:
    """Write the policy of a run, a policy file or a bundled expert as `to`, .onnx or .npz; its metadata."""
    to = Path(to)
    if to.suffix not in SUFFIXES:
        raise SfmError(f"--to must end in {' or '.join(SUFFIXES)}, not '{to.name}'")
    path = find_policy(what, which, seed)
    policy = load_policy(path)
    steps, arrays = in_actuators(policy)
    told = described(policy, path)
    if to.suffix == ".onnx":
        told["opset"] = OPSET
        storage.write_bytes(to, as_onnx(steps, arrays, policy, told))
    else:
        file = io.BytesIO()
        meta = np.array(storage.to_json(told | {"operations": steps}))
        np.savez(file, allow_pickle=False, **{"meta": meta, **arrays})
        storage.write_bytes(to, file.getvalue())
    return told


def in_actuators(policy: Policy) -> tuple[Steps, Arrays]:
    """All steps from an observation's vector to actions in the actuators' own range, and their arrays."""
    actor, scale = policy.act, policy.scale
    first = [["first", policy.action_dim]] if actor.stochastic else []
    ends = {f"action/{name}": getattr(scale, name) for name in ("centre", "reach", "low", "high")}
    ends = {name: np.broadcast_to(end, policy.action_dim) for name, end in ends.items()}
    return [*actor.steps, *first, ["tanh"], ["scale", *ends]], {**actor.arrays, **ends}


def described(policy: Policy, path: Path) -> dict[str, Any]:
    """What one must know to use it, and where it comes from."""
    meta = policy.meta
    told: list[Any] = [meta.get(name) for name in ("obs_names", "action_names", "control_timestep")]
    if None in told:  # bundled, or saved by an earlier version
        env = remembered(meta).make()
        told = [obs_names(env), action_names(env), env.control_timestep]
        env.close()
    seen, done, seconds = told
    starts = [row for row in history.past_of(path.parent.parent) if "began" in row]
    return {
        "format": "sfm-policy 1",
        "task": meta.get("task"),
        "observation_names": list(seen),
        "action_names": list(done),
        "observation_shape": policy.obs_shape,
        "action_shape": list(policy.action_shape),
        "control_hz": round(1 / seconds, 6),
        "action_repeat": policy.action_repeat,
        "commit": starts[-1].get("commit", "") if starts else "",
        **{name: meta.get(name) for name in ("preset", "seed", "steps", "updates")},
    }


def as_onnx(steps: Steps, arrays: Arrays, policy: Policy, told: dict[str, Any]) -> bytes:
    """A model with an input for each part of the observation, [batch, ...], and the output `action`."""
    try:
        import onnx
    except ImportError as error:
        install = "pip install 'successor-feature-matching[onnx]'"
        raise SfmError(f"the onnx package is not installed: {install}") from error
    graph, number = Graph(onnx), onnx.TensorProto.FLOAT
    inputs = list(parts(policy.obs_shape))
    vectors = [graph.reshaped(name, [size(shape)]) for name, shape in inputs]
    x = vectors[0] if len(vectors) == 1 else graph.add("Concat", *vectors, axis=1)
    x = graph.reshaped(graph.follow(steps, arrays, x), policy.action_shape, "action")
    value = onnx.helper.make_tensor_value_info
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "policy",
            [value(name, number, ["batch", *shape]) for name, shape in inputs],
            [value(x, number, ["batch", *policy.action_shape])],
            graph.constants,
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="sfm",
    )
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in told.items() if v is not None}
    onnx.helper.set_model_props(model, texts)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def parts(shape: Any, name: str = "") -> Iterator[tuple[str, list[int]]]:
    """The inputs of an observation's shape: `observation`, or the keys of a Dict, `goal/position`."""
    if not isinstance(shape, dict):
        yield name or "observation", list(shape)
        return
    for key, part in shape.items():
        yield from parts(part, f"{name}/{key}" if name else key)


class Graph:
    """Nodes and constants of an ONNX graph as it grows. `x` and what methods return are names of values."""

    def __init__(self, onnx: Any):
        self.onnx, self.nodes, self.constants = onnx, [], []

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"value{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value: Any, name: str = "") -> str:
        name = name or f"constant{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def reshaped(self, x: str, shape: Any, output: str = "") -> str:
        return self.add("Reshape", x, self.constant(np.array([-1, *shape], np.int64)), output=output)

    def follow(self, steps: Steps, arrays: Arrays, x: str) -> str:
        """What the steps make of `x` [batch, ...]."""
        for name, *args in steps:
            if name == "join":
                x = self.add("Concat", *[self.follow(part, arrays, x) for part in args], axis=1)
            elif name == "first":
                ends = [self.constant(np.array([n], np.int64)) for n in (0, args[0], 1)]
                x = self.add("Slice", x, *ends)
            else:
                x = getattr(self, name)(x, *[self.constant(arrays[a], a) for a in args])
        return x

    def standardise(self, x: str, mean: str, spread: str) -> str:
        x = self.add("Div", self.add("Sub", x, mean), spread)
        return self.add("Clip", x, *[self.constant(np.float32(end)) for end in (-LIMIT, LIMIT)])

    def linear(self, x: str, weight: str, bias: str) -> str:
        return self.add("Gemm", x, weight, bias)

    def layer_norm(self, x: str, scale: str, shift: str) -> str:
        return self.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=EPSILON)

    def mean_abs_one(self, x: str) -> str:
        mean = self.add("ReduceMean", self.add("Abs", x), axes=[-1], keepdims=1)
        return self.add("Div", x, self.add("Max", mean, self.constant(np.float32(EPSILON))))

    def relu(self, x: str) -> str:
        return self.add("Relu", x)

    def elu(self, x: str) -> str:
        return self.add("Elu", x)

    def tanh(self, x: str) -> str:
        return self.add("Tanh", x)

    def scale(self, x: str, centre: str, reach: str, low: str, high: str) -> str:
        x = self.add("Add", centre, self.add("Mul", reach, x))
        return self.add("Min", self.add("Max", x, low), high)
