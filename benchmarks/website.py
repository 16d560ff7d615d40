"""The documentation as a site: the repository's pages at their own places, and nothing from outside.

mkdocs knows a single folder of pages. Ours lie where GitHub shows them and link to each other by relative
paths, so `on_files` gives mkdocs the repository's tree instead, and every link works in both.

make docs                          # builds the site, and then
python -m benchmarks.website site     # says what its pages would load from other places
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

__all__ = ["loaded", "on_config", "on_files", "outside", "paths"]

ROOT = Path(__file__).parents[1]
PATTERNS = ("*.md", "docs/*.*", "results/*.md", "results/*.csv", "examples/**/*")
LOADS = {"href": {"link"}, "src": {"script", "img", "iframe", "source", "video", "audio", "embed"}}
IN_STYLES = re.compile(r"""(?:url\(|@import )\s*["']?([^"')\s;]+)""")


def paths(root: Path = ROOT) -> list[str]:
    """The files of the site, where they lie in the repository."""
    found = {path for pattern in PATTERNS for path in root.glob(pattern)}
    kept = (path.relative_to(root) for path in found if path.is_file() and "__pycache__" not in path.parts)
    return sorted(path.as_posix() for path in kept)


def on_config(config: Any) -> Any:
    """Lists nest by two spaces or three, as on GitHub; Python's Markdown wants four unless told first."""
    from markdown.extensions import Extension

    class Nesting(Extension):
        def extendMarkdown(self, md: Any) -> None:
            md.tab_length = 2
            md.build_parser()

    config.markdown_extensions.insert(0, Nesting())
    return config


def on_files(files: Any, config: Any) -> Any:
    """mkdocs asks for this before it reads pages."""
    from mkdocs.structure.files import File

    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
    for path in paths():
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


class Loads(HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag in LOADS.get(name, ()) and value:
                self.found.append(value)
            elif name == "style" and value:
                self.found += IN_STYLES.findall(value)


def loaded(text: str, suffix: str) -> list[str]:
    styles = re.findall(r"<style.*?</style>", text, re.DOTALL) if suffix == ".html" else [text]
    return [*(Loads(text).found if suffix == ".html" else []), *IN_STYLES.findall("".join(styles))]


def outside(site: Path) -> list[str]:
    """What the pages and styles of a built site load from another place: its file, and the address."""
    files = sorted(path for path in site.rglob("*") if path.suffix in (".html", ".css"))
    return [
        f"{path.relative_to(site)}: {address}"
        for path in files
        for address in loaded(path.read_text(), path.suffix)
        if re.match(r"(\w+:)?//", address)
    ]


if __name__ == "__main__":
    built = Path(sys.argv[1])
    pages = len(list(built.rglob("*.html")))
    strangers = outside(built)
    sys.exit("\n".join(["loaded from outside:", *strangers]) if strangers else None if pages else "no pages")
