import re

import pytest

from benchmarks import readme, records


@pytest.fixture(scope="module")
def now():
    return readme.known()


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_tables_on_a_page_are_fresh(page, now):
    text = page.read_text()
    assert readme.filled(text, now) == text, "stale: run `python -m benchmarks.readme`"


def test_every_table_is_on_one_page():
    text = "".join(page.read_text() for page in readme.PAGES)
    assert sorted(re.findall(r"<!-- table: (\w+) -->", text)) == sorted(readme.TABLES)


def test_settings_are_those_that_differ(now):
    lines = readme.settings(now).splitlines()
    assert "| `gamma` | 0.995 | 0.98 | 0.98 |" in lines
    assert not [line for line in lines if line.startswith("| `schedule.replay` |")]


def test_the_headline_has_the_mean_the_worst_and_the_paper(now):
    run = {"series": readme.TEN_TASKS, "preset": "general"}
    tasks = {"walker_walk": (33.0, 988.0), "cheetah_walk": (500.0, 500.0)}  # the returns of two seeds
    runs = [run | {"task": task, "seconds": s} for task in tasks for s in (60.0, 90.0)]
    ends = [run | {"task": t, "mean": m, "likeness": m / 1000} for t, means in tasks.items() for m in means]
    walker, cheetah, both = readme.headline(now._replace(runs=runs, finals=ends)).splitlines()[2:]
    assert walker == "| walker_walk | 510 | 0.50 | 0.00 | 0.51 | 1.5 | 916 | 0.93 |"
    assert cheetah == "| cheetah_walk | 500 | 0.50 | 0.50 | 0.50 | 1.5 | 945 | 0.96 |"
    assert both == "| all |  | 0.50 | 0.00 | 0.51 |  |  | 0.94 |"


def test_the_judgement_counts_every_run(now):
    """Of two tasks; the kept policy of one seed lost a fifth of its best evaluation, the others nothing."""
    runs, ends = [], []
    for task, returns in {"walker_walk": (988.0, 33.0), "quadruped_stand": (800.0, 900.0)}.items():
        for seed, mean in enumerate(returns):
            who = {"series": readme.TEN_TASKS, "preset": "general", "task": task, "seed": seed}
            best = 1000.0 if mean == 800 else mean
            runs += [who | {"seconds": 60.0 * seed, "kept": 1.0, "current": best}, who | {"seconds": 1.0}]
            ends.append(who | {"mean": mean, "likeness": 2.0 if seed else 0.5})
    lines = readme.judged(now._replace(runs=runs, finals=ends)).splitlines()[2:]
    told = dict(line.strip("| ").split(" | ") for line in lines)
    assert told["runs"] == "4"
    assert told["worst run's score"] == "0.00"
    assert told["mean likeness; walkers and cheetahs alone"] == "0.75; 0.75"
    assert told["kept policy below the best evaluation of its run: mean, worst"] == "5.0%, 20.0%"
    assert told["tasks at the paper's SFM (TD7) less one of its standard deviations"] == "0"
    assert told["minutes of training at most"] == "1.0"


def test_a_stale_table_is_made_anew_and_the_text_around_it_stays(now):
    stale = (
        "above\n<!-- table: main -->\nold\n<!-- end -->\nbetween\n<!-- table: series -->\n<!-- end -->\nbelow"
    )
    fresh = readme.filled(stale, now)
    assert fresh.startswith("above\n<!-- table: main -->\n| steps | 20k |")
    assert "|\n<!-- end -->\nbetween\n<!-- table: series -->\n| series |" in fresh
    assert fresh.endswith("|\n<!-- end -->\nbelow")
    assert "old" not in fresh


def test_results_stay_few_and_small():
    files = [path for path in records.RESULTS.rglob("*") if path.is_file()]
    assert len(files) <= 12
    assert sum(path.stat().st_size for path in files) < 2_000_000


@pytest.mark.parametrize("name", records.KEPT)
def test_tables_are_as_they_would_be_written(name, tmp_path):
    """Sorted and rounded, so that the next run changes its own rows alone."""
    kept = records.read(records.RESULTS / name)
    records.write(tmp_path / name, kept)
    assert records.read(tmp_path / name) == kept
    if not name.endswith(".gz"):  # compressed bytes depend on the version of zlib
        assert (tmp_path / name).read_bytes() == (records.RESULTS / name).read_bytes()


def test_every_end_is_of_a_run_in_the_tables(now):
    known = {records.identity(row) for row in now.runs}
    aside = ("experts-paper", "random")
    missing = [row for row in now.finals if row["series"] not in aside and records.identity(row) not in known]
    assert [row["task"] for row in missing] == ["walker_walk"]  # an expert whose log was not kept


def test_first_of_asks_all_seeds():
    seeds = [[{"seconds": s, "kept": kept}] for s, kept in ((1.0, 5.0), (9.0, 6.0))]
    assert readme.first_of(seeds, 5.0) == 9.0
    assert readme.first_of(seeds, 5.5) is None
