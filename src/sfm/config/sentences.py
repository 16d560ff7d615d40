"""The sentence that says what a field of the configuration does: the string below it in the source."""

import ast
import functools
import inspect
import textwrap


@functools.cache
def sentences(kind: type) -> dict[str, str]:
    """By field; a class that declares a field of its base anew says anew what it does."""
    told = {} if kind.__base__ in (object, None) else dict(sentences(kind.__base__))
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # pyright: ignore
    for statement, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = below.value.value if _is_text(below) else ""  # pyright: ignore
            told[statement.target.id] = " ".join(text.split())
    return told


def _is_text(statement: ast.stmt | None) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)
