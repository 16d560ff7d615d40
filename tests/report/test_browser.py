"""The page in a real browser. Needs chromium, node and playwright-core:

npm install --prefix DIR playwright-core && NODE_PATH=DIR/node_modules pytest tests/report/test_browser.py

With SHOTS=DIR it leaves pictures of the page there.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sfm.report.page import page
from tests.report.test_page import records  # noqa: F401

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NODE = shutil.which("node")


def _playwright() -> bool:
    asked = [NODE or "node", "-e", "require('playwright-core')"]
    return bool(NODE) and subprocess.run(asked, capture_output=True).returncode == 0


@pytest.fixture
def told(records, tmp_path):  # noqa: F811
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    if not _playwright():
        pytest.skip("node with playwright-core is not installed, or NODE_PATH does not name it")
    where = tmp_path / "report.html"
    where.write_text(page(records, "What these runs have shown"))
    script = Path(__file__).parent / "browse.js"
    words = [
        str(NODE),
        str(script),
        str(where),
        CHROMIUM,
        str(tmp_path / "profile"),
        os.environ.get("SHOTS", ""),
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_reader_finds_everything_to_work(told):
    assert told["errors"] == []
    assert [request for request in told["requests"] if not request.startswith("file:")] == []
    assert len(told["links"]) > 10
    assert told["dead"] == []
    for sort in told["sorts"]:
        assert sort["said"] == ["ascending", "descending"]
        for way, values in (("up", sort["up"]), ("down", sort["down"])):
            assert sorted(values) == sorted(sort["before"])
            full = [value for value in values if value]
            assert values == full + [""] * (len(values) - len(full))
            numbers = [float(value) for value in full if value.lstrip("-").replace(".", "", 1).isdigit()]
            if len(numbers) == len(full):
                assert numbers == sorted(numbers, reverse=way == "down")
            elif all(value.isalpha() and value.islower() for value in full):
                assert full == sorted(full, reverse=way == "down")
    assert (told["skip"], told["skipped"], told["enter"]) == ("skip", "main", "ascending")
    names = [name for name, _ in told["themes"]]
    assert names == ["Theme: automatic", "Theme: light", "Theme: dark"]
    light, dark = told["themes"][1][1], told["themes"][2][1]
    assert light != dark
    assert told["themes"][0][1] == light
    assert told["kept"] == ["Theme: dark", dark]
    assert told["system"] == dark
    assert told["axes"] == [[axis, [axis]] for axis in ("seconds", "updates", "steps")]
    assert told["theirs"] == [30, 0]
    assert told["rows"] == [6, 2, "2 of 6"]
    (moving, stop), (still, play) = told["film"]
    assert moving > still
    assert (stop, play) == ("Stop walker_walk", "Play walker_walk")
    assert told["still"] == [still, play]
    assert told["closed"] == 0
    assert told["nameless"] == 0
    assert told["phone"] <= 390
    assert told["print"] > 10_000
