"""The sentence that says what a field of the configuration does: the string below it in the source."""

import ast
import functools
import inspect
import itertools
import textwrap


@functools.cache
def sentences(kind: type) -> dict[str, str]:
    """By field; a class that gives a field of its base another default need not say again what it does."""
    told = {} if kind.__base__ in (object, None) else dict(sentences(kind.__base__))
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # pyright: ignore
    for pair in itertools.pairwise([*body, None]):
        match pair:
            case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                told[name] = " ".join(text.split())
            case ast.AnnAssign(ast.Name(name)), _:
                told.setdefault(name, "")
    return told
