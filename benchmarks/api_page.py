"""docs/api.md: the names of `sfm`, with their signatures and docstrings.

python -m benchmarks.api_page     # writes it anew
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sfm
from sfm import storage

__all__ = ["ORDER", "page", "prose"]

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
INTRODUCTION = """\
# The library

Made by `python -m benchmarks.api_page` from the docstrings; do not edit.

These are the names of `sfm`; all else may change without notice. Mistakes in what is given raise
`sfm.SfmError` with one line that says what to do. Settings have [a page of their own](options.md)."""
ORDER = ["train", "resume", "fork", "Result", "evaluate", "load_policy", "Policy", "load_demos", "Demos"]
ORDER += ["record", "demos_from_motion", "make_env", "SfmError"]


def page() -> str:
    return "\n\n".join([INTRODUCTION, *(part for name in ORDER for part in entry(name))]) + "\n"


def entry(name: str) -> Iterator[str]:
    found = getattr(sfm, name)
    yield f"## `sfm.{name}`"
    text = textwrap.dedent(inspect.getsource(found))
    (node,), lines = ast.parse(text).body, text.splitlines()
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    inner = node.body if isinstance(node, ast.ClassDef) else []
    fields = [lines[field.lineno - 1] for field in inner if isinstance(field, ast.AnnAssign)]
    code = "\n".join([head(node, lines) + ":" * bool(fields), *fields])
    yield fence(code.replace(f" {node.name}", f" {name}", 1))
    yield from prose(found)
    for method in inner:
        if isinstance(method, ast.FunctionDef) and told(method):
            yield f"### `{name}.{method.name}`"
            yield fence(textwrap.dedent(head(method, lines)))
            yield from prose(getattr(found, method.name))


def told(method: ast.FunctionDef) -> bool:
    return bool(ast.get_docstring(method)) and (method.name == "__call__" or not method.name.startswith("_"))


def head(node: ast.ClassDef | ast.FunctionDef, lines: list[str]) -> str:
    """The first lines, as the source has them."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(lines[first - 1 : node.body[0].lineno - 1]).removesuffix(":")


def prose(found: Any) -> Iterator[str]:
    """A docstring as Markdown: lines `argument: what it is` become a list, indented paragraphs code."""
    for paragraph in (inspect.getdoc(found) or "").split("\n\n"):
        if paragraph.startswith("    "):
            yield fence(textwrap.dedent(paragraph))
            continue
        text, *arguments = re.split(r"^(\w+): ", paragraph, flags=re.MULTILINE)
        if text:
            yield filled(text)
        items = zip(arguments[::2], arguments[1::2], strict=True)
        if arguments:
            yield "\n".join(filled(f"- `{name}`: {what}", "  ") for name, what in items)


def filled(text: str, indent: str = "") -> str:
    plain = " ".join(text.split())
    return textwrap.fill(plain, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def fence(code: str) -> str:
    return f"```python\n{code}\n```"


if __name__ == "__main__":
    storage.write_bytes(PAGE, page().encode())
    print(PAGE)
