"""Sums and products of names and numbers, such as "pelvis_tilt + 0.5 * hip_flexion_r"; nothing else."""

import ast
import operator
from collections.abc import Mapping

import numpy as np

from sfm.errors import SfmError, unknown

LONGEST = 300  # characters
_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos}


def parse(text: str) -> ast.expr:
    """The tree of an expression, of which only what `value` knows has a meaning."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _not_understood(text) from error


def value(text: str, names: Mapping[str, np.ndarray]) -> np.ndarray:
    """What the expression is where each name stands for an array; numbers are scalars."""

    def of(node: ast.expr) -> np.ndarray:
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return np.float64(node.value)  # pyright: ignore[reportReturnType, reportArgumentType]
            case ast.Name():
                if node.id not in names:
                    raise unknown("name in the clip", node.id, names)
                return names[node.id]
            case ast.BinOp() if type(node.op) in _BINARY:
                with np.errstate(all="ignore"):
                    return _BINARY[type(node.op)](of(node.left), of(node.right))
            case ast.UnaryOp() if type(node.op) in _UNARY:
                return _UNARY[type(node.op)](of(node.operand))
        raise _not_understood(text)

    return of(parse(text))


def name(text: str) -> str | None:
    """The name, if the expression is nothing but one."""
    node = parse(text)
    return node.id if isinstance(node, ast.Name) else None


def names(text: str) -> set[str]:
    """All names that occur."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


def _not_understood(text: str) -> SfmError:
    return SfmError(f"'{text[:60]}' is not understood: only names, numbers, + - * / and brackets are")
