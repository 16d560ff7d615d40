"""The page as text: whole, self-contained, and safe whatever runs are called."""

import re
from html.parser import HTMLParser

import pytest
from PIL import Image

from sfm import storage
from sfm.errors import SfmError
from sfm.evaluation.scores import normalised
from sfm.report import aggregate, paper
from sfm.report.groups import grouped, samples
from sfm.report.origins import again
from sfm.report.page import page
from sfm.report.records import read
from tests.report.conftest import write_rows

EMPTY = {"meta", "link", "br", "wbr", "img", "input"}  # and the shapes of SVG, which close themselves


class Checked(HTMLParser):
    """Ids, links, and whether elements close in order."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told[k] for k in ("href", "xlink:href", "src") if k in told]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def gif(folder):
    frames = [Image.new("RGB", (64, 48), (4 * i, 90, 160)) for i in range(30)]
    frames[0].save(folder / "video.gif", save_all=True, append_images=frames[1:], duration=80, loop=0)


@pytest.fixture
def records(copy):
    """Two methods on two of the paper's tasks and one of its tasks alone, and a task that it has not."""
    folders = [
        copy(f"{task}-{gamma}", task=task, gamma=gamma, gain=500 - 100 * i)
        for task in ("walker_walk", "cheetah_run")
        for i, gamma in enumerate((0.9, 0.8))
    ]
    gif(folders[0])
    return [read(folder) for folder in [*folders, copy("flip", task="walker_flip", gamma=0.7), copy("probe")]]


def test_the_page_needs_nothing_but_itself_and_has_every_task(records):
    text = page(records, "A <b>title</b> & more")
    found = Checked(text)
    assert len(found.ids) == len(set(found.ids))
    for link in found.links:
        assert link.startswith("data:") or link.removeprefix("#") in found.ids
    assert not re.search(r"@import|url\((?!#)", text)
    assert "<b>title</b>" not in text
    assert "data:image/webp;base64," in text
    assert len(text) < 1_500_000
    assert all(
        f'id="task-{name}"' in text for name in ("walker-walk", "cheetah-run", "walker-flip", "probe-point")
    )
    assert "SFM (TD7), paper" in text
    assert text.count("Learning curves of walker_walk by") == 6  # three axes: caption and description
    assert "is not in these figures: it has 0 of these 2 tasks" in text
    assert 'data-key="walker_walk"><a href="#task-walker-walk">walker_walk</a>' in text
    assert "commit</dt>" in text
    assert "sfm train" not in again(records[0])  # no preset of ours: there is no such command


def test_a_run_is_trained_again_by_a_command(real, tmp_path):
    from sfm.config import to_dict
    from sfm.presets import preset

    data = to_dict(preset("fast", task="walker_walk", seed=3, gamma=0.9))
    storage.write_json(tmp_path / "run" / "config.json", data)
    want = "sfm train walker_walk --preset fast --gamma 0.9 --seed 3 --seeds 1"
    assert again(read(tmp_path / "run")) == want


def test_aggregates_are_over_tasks_that_all_methods_have(records):
    groups = {name: samples(mine)[0] for name, mine in grouped(records).items()}
    scores = aggregate.gathered(groups)
    assert scores.tasks == ["cheetah_run", "walker_walk"]
    assert len(scores.methods) == 2
    assert len(scores.others) == 1
    best = next(iter(scores.methods.values()))
    want = [normalised("walker_walk", v) for v in records[0].values().values()]
    assert best[1].tolist() == pytest.approx(want)


def test_the_papers_numbers_are_on_its_own_scale():
    """Its tables, normalised, give the means that its first figure shows: SFM .845, 16% above GAIfO."""
    sfm, gaifo = (paper.mean_score(name, paper.tasks()) for name in ("SFM (TD7)", "GAIfO (TD7)"))
    assert sfm.value == pytest.approx(0.845, abs=1e-3)
    assert sfm.value - gaifo.value == pytest.approx(0.162, abs=1e-3)
    assert sfm.low is not None
    assert 0.81 < sfm.low < sfm.value
    assert sum(map(len, paper.tables().values())) == 15
    assert all(set(row) == set(paper.tasks()) for row in paper.methods().values())
    assert normalised("probe_point", 1.0) is None


def test_runs_that_are_not_whole_are_on_the_page(copy):
    empty, broken, bad = copy("empty"), copy("broken"), copy("bad")
    write_rows(empty, [])
    (broken / "config.json").write_text("{")
    (bad / "video.gif").write_bytes(b"GIF89a no picture")
    lines = (bad / "metrics.jsonl").read_text()
    (bad / "metrics.jsonl").write_text('{"eval/kept": \n' + lines)
    text = page([read(folder) for folder in (empty, broken, bad)], "x")
    Checked(text)
    for said in (
        "broken is damaged",
        "empty has no evaluation yet",
        "1 line cannot be read",
        "No moving picture",
    ):
        assert said in text
    assert "none of these tasks is one of the paper&#x27;s" in text
    with pytest.raises(SfmError, match="none of these 2 runs has been evaluated yet"):
        page([read(empty), read(broken)], "x")


def test_names_cannot_break_the_page(copy):
    folder = copy('<img src=x onerror="alert(1)">', task="a\"b'<script>alert(2)</script>", preset="&<i>")
    text = page([read(folder)], "x")
    Checked(text)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "<i>" not in text
