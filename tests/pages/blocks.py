"""The code in the pages: what a reader would copy into a shell, a file or Python."""

import re
import shlex
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    str(page.relative_to(ROOT))
    for pattern in ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "results/README.md", "examples/README.md")
    for page in sorted(ROOT.glob(pattern))
]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(sfm [^`]*)`")


class Block(NamedTuple):
    language: str  # empty: no code, a drawing or what a command printed
    text: str


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, also of lists."""
    return [Block(language, textwrap.dedent(code)) for _, language, code in FENCE.findall(text)]


def inline(text: str) -> list[str]:
    """The commands between single backticks."""
    return [" ".join(found.split()) for found in INLINE.findall(FENCE.sub("", text))]


def commands(text: str) -> list[list[str]]:
    """The words of each command of a shell block, without comments."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        words: list[str] = []
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&")
        lexer.whitespace_split = True
        for word in [*lexer, ";"]:
            if word not in (";", "&&"):
                words.append(word)
            elif words:
                found.append(words)
                words = []
    return found
