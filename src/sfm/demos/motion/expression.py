"""Sums and products of names and numbers, such as "pelvis_tilt + 0.5 * hip_flexion_r"; nothing else."""

import ast
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from sfm.errors import SfmError, unknown

LONGEST = 300  # characters
_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos}


def parse(text: str) -> ast.expr:
    """The tree of an expression, which has no more in it than `value` knows."""
    try:
        tree = ast.parse(text[: LONGEST + 1].strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None or len(text) > LONGEST or not all(map(_known, ast.walk(tree))):
        raise SfmError(f"'{text[:60]}' is not understood: only names, numbers, + - * / and brackets are")
    return tree


def value(text: str, names: Mapping[str, Any]) -> Any:
    """What the expression is where each name stands for an array, or for what else has + - * /."""

    def of(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return np.float64(node.value)  # pyright: ignore[reportArgumentType]
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](of(node.operand))
        if isinstance(node, ast.BinOp):
            with np.errstate(all="ignore"):
                return _BINARY[type(node.op)](of(node.left), of(node.right))
        assert isinstance(node, ast.Name)
        if node.id not in names:
            raise unknown("name in the clip", node.id, names)
        return names[node.id]

    return of(parse(text))


def names(text: str) -> set[str]:
    """All names that occur."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    operators = (*_BINARY, *_UNARY)
    return isinstance(node, (ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, *operators))
