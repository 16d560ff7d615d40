"""The site of the documentation: it has every page, and loads nothing from outside."""

import re

import pytest

from benchmarks import website

NAV = re.findall(r"^ +- (?:[^:]+: )?(\S+\.md)$", (website.ROOT / "mkdocs.yml").read_text(), re.MULTILINE)


def test_every_page_has_its_place_in_the_navigation():
    pages = [path for path in website.paths() if path.endswith(".md")]
    assert sorted(NAV) == sorted(pages), "mkdocs.yml: the pages under nav are not those that there are"


def test_pictures_tables_and_examples_come_along(tmp_path):
    assert {"docs/picture.png", "results/runs.csv", "examples/snake/snake.xml"} <= set(website.paths())
    (tmp_path / "examples" / "__pycache__").mkdir(parents=True)
    (tmp_path / "examples" / "__pycache__" / "a.pyc").touch()
    assert website.paths(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img alt="" src="http://example/a.png"/>',
        "<style>body { background: url('https://example/a.png') }</style>",
        '<p style="background: url(https://example/a.png)">',
    ],
)
def test_what_is_loaded_from_outside_is_found(line, tmp_path):
    (tmp_path / "page.html").write_text(f"<html>{line}</html>")
    (found,) = website.outside(tmp_path)
    assert found.startswith("page.html: ")
    assert "example" in found


def test_styles_are_read_too(tmp_path):
    (tmp_path / "a.css").write_text('@import "https://example/b.css"; p { color: url(data:image/png,x) }')
    assert website.outside(tmp_path) == ["a.css: https://example/b.css"]


def test_links_and_pictures_of_its_own_are_no_strangers(tmp_path):
    (tmp_path / "page.html").write_text(
        '<a href="https://arxiv.org/">paper</a><img src="../picture.png"><script src="a.js"></script>'
        '<link rel="icon" href="assets/icon.png"><code>url(https://example/told)</code>'
    )
    assert website.outside(tmp_path) == []
