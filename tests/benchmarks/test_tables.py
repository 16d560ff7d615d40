from benchmarks.tables import by_updates, curves, first, reached, summary

RUN = {"series": "s", "task": "walker_walk", "preset": "fast"}


def curve(seed, *points, **more):
    return [
        RUN
        | {"seed": seed, "step": 2 * u, "updates": u, "seconds": u / 100, "kept": v, "current": 0.0}
        | more
        for u, v in points
    ]


def test_curves_are_read_off_at_equal_updates():
    """Seed 0 is judged at 5,000, 15,000 and 25,000 updates, seed 1 five thousand later, up to 20,000."""
    rows = curve(0, (5_000, 0.0), (15_000, 100.0), (25_000, 300.0)) + curve(
        1, (10_000, 50.0), (20_000, 150.0)
    )
    end = RUN | {"seed": 1, "step": 60_000, "updates": 30_000, "seconds": 1.0}  # not judged
    header, _, line = by_updates([*rows, end]).splitlines()
    assert header == "| updates | 10,000 | 20,000 |"
    assert line == "| walker_walk fast | 50 | 175 |"
    assert by_updates(rows, every=4_000).splitlines()[2].startswith("| walker_walk fast |  |  | 70 |")


def test_curves_of_different_lengths_and_settings_have_lines_of_their_own():
    rows = curve(0, (10_000, 1.0), (20_000, 2.0)) + curve(0, (10_000, 3.0), changes="gamma=0.5")
    assert by_updates(rows).splitlines()[2:] == [
        "| walker_walk fast | 1 | 2 |",
        "| walker_walk fast gamma=0.5 | 3 |  |",
    ]


def test_every_evaluation_is_shown():
    rows = [*curve(3, (600, 12.3)), RUN | {"seed": 3, "step": 5, "seconds": 9.0}]
    assert curves(rows).splitlines()[2:] == ["| walker_walk fast | 3 | 1200 | 600 | 0.1 | 12 | 0 |"]


def test_first_is_the_first_that_is_good_enough():
    rows = curve(0, (1, 5.0), (2, 9.0), (3, 10.0))
    assert first(rows, 9.0) is rows[1]
    assert first(rows, 11.0) is None
    assert first([{"step": 1}], -1.0) is None


def test_reached_tells_when_a_share_of_the_expert_was_there():
    rows = curve(4, (100, 49.0), (200, 50.0), (300, 79.0))
    end = RUN | {"seed": 4, "step": 600, "mean": 81.2, "std": 3.4, "expert": 100.0}
    assert reached(rows, [end | {"seed": 5}, end]).splitlines()[2:] == [
        "| walker_walk fast | 4 | 400 steps, 2 s | not reached | 600 | 81 +- 3, 3 s |"
    ]
    assert len(reached(rows, [end | {"seed": 5}]).splitlines()) == 2  # nothing is known of that expert


def test_summary_has_methods_by_tasks_with_the_spread_over_seeds():
    ends = [RUN | {"seed": s, "mean": mean} for s, mean in enumerate((100.0, 200.0))]
    ends += [RUN | {"preset": "bc", "task": "nowhere", "seed": 1, "mean": 7.0}]
    header, _, fast, bc, random, expert = summary(ends).splitlines()
    assert header == "|  | walker_walk | nowhere |"
    assert fast == "| fast | 150 +- 50 (0.12) |  |"
    assert bc == "| bc |  | 7 +- 0 |"
    assert (random, expert) == ("| random | 32 |  |", "| expert | 953 |  |")
