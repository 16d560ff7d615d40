"""The page of the library says what the code does."""

import sfm
from benchmarks import api_page


def test_the_page_of_the_library_is_fresh():
    assert api_page.PAGE.read_text() == api_page.page(), "stale: run `python -m benchmarks.api_page`"


def test_every_public_name_is_on_it_once():
    assert sorted([*api_page.ORDER, "__version__"]) == sorted(sfm.__all__)


def test_signatures_have_the_public_name_and_only_fields_follow_a_colon():
    page = api_page.page()
    assert "def load_demos(path: str | Path, repair: Repair" in page
    assert "```python\nclass Policy\n```" in page
    assert "class Result(NamedTuple):\n    folder: Path\n" in page
    assert "```python\n@property\ndef returns(self) -> dict[int, float]\n```" in page


def described():
    """What it is.

    first: an argument, whose words go on
    in the next line.
    second: another.

        code()

    The end.
    """


def test_docstrings_become_markdown():
    code = "```python\ncode()\n```"
    items = "- `first`: an argument, whose words go on in the next line.\n- `second`: another."
    assert list(api_page.prose(described)) == ["What it is.", items, code, "The end."]
